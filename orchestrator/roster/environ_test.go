package roster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/option"
	"kanban-run/orchestrator/redact"
	"kanban-run/roles"
)

func TestEnvironment(t *testing.T) {
	base := []string{"KANBAN_RUN_MARK=4000000000000001", "KANBAN_RUN_NOTIFY_WEBHOOK=https://h/x", "KANBAN_RUN_ROLE=Manager", "PATH=/bin", "HOME=/h", "MY_TOKEN=t0ken-value", "DB_PASSWORD=hunter2", "AWS_SECRET_ACCESS_KEY=k", "MONKEY=banana",
		"GITHUB_ENV=/e", "GITHUB_TOKEN=g", "ACTIONS_RUNTIME_URL=u", "RUNNER_TRACKING_ID=r", "INNOCENT=ghp_0123456789abcdefghijABCDEFGHIJ012345", "=odd", "EMPTY="}
	tests := []struct {
		name     string
		rule     EnvRule
		env      []string
		withheld []string
	}{
		{"what looks secret or steers the CI job stays", EnvRule{},
			[]string{"EMPTY=", "HOME=/h", "KANBAN_RUN_ROLE=Manager", "MONKEY=banana", "PATH=/bin", "RUNNER_TRACKING_ID=r"},
			[]string{"ACTIONS_RUNTIME_URL", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "GITHUB_ENV", "GITHUB_TOKEN", "INNOCENT", "MY_TOKEN"}},
		{"pass, by name and by pattern", EnvRule{Env: option.Env{Pass: []string{"MY_TOKEN", "AWS_*"}}},
			[]string{"AWS_SECRET_ACCESS_KEY=k", "EMPTY=", "HOME=/h", "KANBAN_RUN_ROLE=Manager", "MONKEY=banana", "MY_TOKEN=t0ken-value", "PATH=/bin", "RUNNER_TRACKING_ID=r"},
			[]string{"ACTIONS_RUNTIME_URL", "DB_PASSWORD", "GITHUB_ENV", "GITHUB_TOKEN", "INNOCENT"}},
		{"pass all, but what is kanban-run's own", EnvRule{Env: option.Env{Pass: []string{"*_TOKEN", "KANBAN_*"}}},
			[]string{"EMPTY=", "GITHUB_TOKEN=g", "HOME=/h", "KANBAN_RUN_ROLE=Manager", "MONKEY=banana", "MY_TOKEN=t0ken-value", "PATH=/bin", "RUNNER_TRACKING_ID=r"},
			[]string{"ACTIONS_RUNTIME_URL", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "GITHUB_ENV", "INNOCENT"}},
		{"only is the whole list", EnvRule{Env: option.Env{Only: []string{"PATH", "MY_TOKEN"}}}, []string{"MY_TOKEN=t0ken-value", "PATH=/bin"}, nil},
		{"set wins and is not withheld", EnvRule{Env: option.Env{Only: []string{"PATH"}, Set: map[string]string{"PATH": "/usr/bin", "DB_PASSWORD": "x"}}},
			[]string{"DB_PASSWORD=x", "PATH=/usr/bin"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, withheld := environment(base, tt.rule)
			if diff := cmp.Diff(tt.env, env); diff != "" {
				t.Errorf("environment: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(tt.withheld, withheld); diff != "" {
				t.Errorf("withheld: -want +got\n%s", diff)
			}
		})
	}
}

// TestProxyWithPassword: it is the way to the model, so the tools that ask one get it as they get their key. A plain
// program does not, and nobody is shown the password.
func TestProxyWithPassword(t *testing.T) {
	const proxy = "http://ann:pa55-w0rd@proxy.example:3128"
	environ := []string{"HTTPS_PROXY=" + proxy, "http_proxy=" + proxy, "NO_PROXY=localhost", "IS_SANDBOX=1", "OTHER=" + proxy}
	r := &Roster{Settings: &config.Settings{}, Executable: "/bin/true", Environ: environ}
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "acp", "exec"} {
		p, err := r.newPlayer(roles.Role{Name: "R"}, playerKey{}, program{name: name, adapter: r.adapter(name), command: []string{"/bin/true"}})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"OTHER"}
		if name == "exec" {
			want = []string{"HTTPS_PROXY", "OTHER", "http_proxy"}
		}
		if diff := cmp.Diff(want, p.Withheld); diff != "" {
			t.Errorf("%s: withheld: -want +got\n%s", name, diff)
		}
	}
	hide, _ := redact.NewNamed(Secrets(environ))
	if got := hide.String("connect " + proxy + ", user ann, pa55-w0rd, Basic YW5uOnBhNTUtdzByZA=="); strings.Contains(got, "pa55") || strings.Contains(got, "OnBhNTUtdzByZA") {
		t.Errorf("a person is shown %s", got)
	}
}

// TestExplainEnd: an agent that reached no server is told of with the ways to one that it does not get, also where
// env.only leaves them out; any other end is not.
func TestExplainEnd(t *testing.T) {
	environ := []string{"HTTPS_PROXY=http://proxy.example", "NO_PROXY=localhost", "X_BASE_URL=", "PATH=/bin", "A_TOKEN=tok-1234567890"}
	only := option.Env{Only: []string{"PATH"}}
	for _, tt := range []struct {
		env          option.Env
		reason, said string
		want         string
	}{
		{only, "exit status 7", "curl: (6) Could not resolve host: x", "exit status 7; it does not get HTTPS_PROXY, which may be why"},
		{only, "claude: API Error: Unable to connect to API", "", "claude: API Error: Unable to connect to API; it does not get HTTPS_PROXY, which may be why"},
		{only, "exit status 7", "a test fails", "exit status 7"},
		{option.Env{}, "exit status 7", "curl: (6) Could not resolve host: x", "exit status 7"},
	} {
		r := &Roster{Settings: &config.Settings{Env: tt.env}, Executable: "/bin/true", Environ: environ}
		p, err := r.newPlayer(roles.Role{Name: "R"}, playerKey{}, program{name: "exec", adapter: r.adapter("exec"), command: []string{"/bin/true"}})
		if err != nil {
			t.Fatal(err)
		}
		if got, lacks := p.ExplainEnd(tt.reason, tt.said); got != tt.want || (lacks != nil) != (got != tt.reason) {
			t.Errorf("ExplainEnd = %q, %v, want %q", got, lacks, tt.want)
		}
	}
}

// TestPublicEnviron: no rule hands a program a secret that only has to tell its version.
func TestPublicEnviron(t *testing.T) {
	base := []string{"PATH=/bin", "HOME=/h", "MY_TOKEN=t0ken-value", "GITHUB_ENV=/e", "INNOCENT=ghp_0123456789abcdefghijABCDEFGHIJ012345"}
	for _, rule := range []EnvRule{
		{Env: option.Env{Pass: []string{"*"}, Set: map[string]string{"MODE": "x", "A_KEY": "k3y-value"}}, Keys: []string{"MY_TOKEN"}},
		{Env: option.Env{Only: []string{"*"}, Set: map[string]string{"MODE": "x"}}},
	} {
		want := []string{"HOME=/h", "MODE=x", "PATH=/bin"}
		if diff := cmp.Diff(want, PublicEnviron(base, rule)); diff != "" {
			t.Errorf("%+v: -want +got\n%s", rule, diff)
		}
	}
}

func TestEnvRulesMerge(t *testing.T) {
	settings := EnvRule{Env: option.Env{Pass: []string{"A"}, Set: map[string]string{"X": "1", "Y": "1"}, Only: []string{"PATH"}}}
	got := settings.merge(option.Env{Pass: []string{"B"}, Set: map[string]string{"Y": "2"}})
	want := EnvRule{Env: option.Env{Pass: []string{"A", "B"}, Set: map[string]string{"X": "1", "Y": "2"}, Only: []string{"PATH"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merge: -want +got\n%s", diff)
	}
}
