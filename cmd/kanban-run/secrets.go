package main

import (
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
)

// redactor returns a redactor of the secrets in the environment and in those settings that can be
// read. It is for output before the settings are loaded, or about settings that are wrong.
func (t *terminal) redactor() *redact.Redactor {
	secrets := roster.Secrets(t.environ)
	for _, dir := range t.folders {
		hidden, set := config.ReadHidden(filepath.Join(dir, config.FileName), t.environ)
		for _, h := range hidden {
			secrets = append(secrets, redact.Secret{Name: h.Name, Value: h.Text})
		}
		for name, value := range set {
			secrets = append(secrets, roster.Secrets([]string{name + "=" + value})...)
		}
	}
	r, _ := redact.NewNamed(secrets)
	return r
}

// noteSettingsFolders notes the folders whose settings a command may use. These are the folder of
// -C (the current folder if there is no -C) and the folders of the command's boards.
func (t *terminal) noteSettingsFolders(flags *pflag.FlagSet) {
	dir := t.startDir
	if f := flags.Lookup("workdir"); f != nil {
		if given, ok := f.Value.(*valueFlag); ok && len(given.values) > 0 {
			dir = joined(dir, given.values[0])
		}
	}
	t.folders = []string{dir}
	for _, arg := range flags.Args() {
		t.folders = append(t.folders, filepath.Dir(joined(dir, arg)))
	}
	slices.Sort(t.folders)
	t.folders = slices.Compact(t.folders)
}

func joined(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
