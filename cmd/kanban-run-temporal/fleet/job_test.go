package fleet_test

import (
	"strings"
	"testing"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// There is one workflow for a board, however its repository is addressed.
func TestID(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/team/project.git":     "github.com/team/project//boards/a.yaml",
		"https://github.com/team/project/":        "github.com/team/project//boards/a.yaml",
		"git@github.com:team/project.git":         "github.com/team/project//boards/a.yaml",
		"ssh://git@github.com/team/project.git":   "github.com/team/project//boards/a.yaml",
		"ssh://git@host:2222/team/project.git":    "host:2222/team/project//boards/a.yaml",
		"/srv/git/project.git":                    "/srv/git/project//boards/a.yaml",
		"file:///srv/git/project.git":             "/srv/git/project//boards/a.yaml",
		"https://github.com/team/project.git.git": "github.com/team/project.git//boards/a.yaml",
	} {
		if got := (fleet.Job{Repository: address, Board: "boards/a.yaml"}).ID(); got != want {
			t.Errorf("%s: %s, not %s", address, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	const fine = "https://github.com/team/project.git"
	for _, job := range []fleet.Job{
		{Repository: fine, Board: "kanban.yaml"}, {Repository: "git@host:a/b", Board: "a/b_c/kanban.md"}, {Repository: "ssh://git@host/a", Board: "k.yaml"}, {Repository: "/srv/a", Board: "k.yaml"},
	} {
		if err := job.Check(); err != nil {
			t.Errorf("%+v: %v", job, err)
		}
	}
	for _, c := range []struct{ repository, board, want string }{
		{"", "k.yaml", "no address"},
		{"--upload-pack=touch /tmp/x", "k.yaml", "no address"},
		{"ext::sh -c whoami", "k.yaml", "start a program"},
		{"https://user:hunter2@host/p.git", "k.yaml", "history"},
		{"https://ghp_0123456789@host/p.git", "k.yaml", "history"},
		{"ssh://git:hunter2@host/p.git", "k.yaml", "history"},
		{fine, "", "no path"},
		{fine, "../k.yaml", "no path"},
		{fine, "/etc/passwd", "no path"},
		{fine, "a/../../k.yaml", "no path"},
		{fine, "--exec=sh", "no path"},
		{fine, ".git/config", "no path"},
		{fine, "my board/kanban.yaml", "no name of a branch"},
		{fine, "a/.hidden/kanban.yaml", "no name of a branch"},
		{"ssh://git@host/team/%2e%2e/other/x.git", "k.yaml", "no plain address"},
		{"https://host/team/../other/x.git", "k.yaml", "no plain address"},
		{"https://host/team/..", "k.yaml", "no plain address"},
		{"https://host/team/x\n", "k.yaml", "no plain address"},
	} {
		err := fleet.Job{Repository: c.repository, Board: c.board}.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.repository, c.board, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error has the secret: %v", err)
		}
	}
}
