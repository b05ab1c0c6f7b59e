package git

import (
	"crypto/sha256"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// setting is one of git's settings. Some parts of a key mean the same in upper and in lower case.
// Those parts are in lower case here. A setting without a value is true.
type setting struct {
	key, value string
	isSet      bool
	own        bool // the setting is in a file of the repository, which agents can write
}

// Settings are the settings of the system, the user and the repository, in git's order. If several
// have the same key, the last one is used.
type Settings []setting

// parseSettings reads the output of git config --list -z --show-scope.
func parseSettings(list string) (all Settings) {
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		s := setting{own: fields[i] == "local" || fields[i] == "worktree"}
		s.key, s.value, s.isSet = strings.Cut(fields[i+1], "\n")
		all = append(all, s)
	}
	return all
}

// Get returns the last value of a key in the user's and the system's settings.
func (s Settings) Get(key string) string { return s.last(key, false) }

// GetOwn returns the last value of a key, including the repository's own settings.
func (s Settings) GetOwn(key string) string { return s.last(key, true) }

func (s Settings) last(key string, own bool) (value string) {
	for _, at := range s {
		if at.key == key && (own || !at.own) {
			value = at.value
		}
	}
	return value
}

// Only returns the last values of some keys, including the repository's own settings.
func (s Settings) Only(keys ...string) (all Settings) {
	for _, key := range keys {
		for _, at := range slices.Backward(s) {
			if at.key == key {
				all = append(all, at)
				break
			}
		}
	}
	return all
}

// Find lists the keys and values of all settings whose key matches a pattern.
func (s Settings) Find(key *regexp.Regexp) (all []string) {
	for _, at := range s {
		if key.MatchString(at.key) {
			all = append(all, strings.TrimSpace(at.key+" "+at.value))
		}
	}
	return all
}

// kept matches the names of the settings that a call to a remote needs: those about the user's name
// and keys, the address and the transport.
var kept = regexp.MustCompile(
	`^((credential|http|url|user|gpg|safe)\..*|core\.(sshcommand|askpass|excludesfile)|ssh\.variant)$`)

// Way returns the settings for a remote in a folder of this machine. Such a remote needs no keys.
func (s Settings) Way() (all Settings) {
	for _, at := range s.Kept() {
		if strings.HasPrefix(at.key, "url.") || strings.HasPrefix(at.key, "safe.") {
			all = append(all, at)
		}
	}
	return all
}

// renewed matches keys whose values change by themselves, such as the token of a CI job.
var renewed = regexp.MustCompile(`^http\..*extraheader$`)

// Kept returns the settings for a call to a remote: only those of the user and of the system, since
// agents can write those of the repository.
func (s Settings) Kept() (all Settings) {
	for _, at := range s {
		if !at.own && kept.MatchString(at.key) {
			all = append(all, at)
		}
	}
	return all
}

// Digests returns a sorted list with a text "KEY DIGEST" for each setting. The digest is a hash of
// the setting's value. A value that changes by itself counts as empty.
func (s Settings) Digests() (all []string) {
	for _, at := range s {
		value := at.value
		if renewed.MatchString(at.key) {
			value = ""
		}
		all = append(all, fmt.Sprintf("%s %.8x", at.key, sha256.Sum256([]byte(value))))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// File returns the settings as the text of a file that git can read.
func (s Settings) File() string {
	var b strings.Builder
	for _, at := range s {
		section, name := at.key, ""
		if dot := strings.LastIndexByte(at.key, '.'); dot >= 0 {
			section, name = at.key[:dot], at.key[dot+1:]
		}
		if group, sub, nested := strings.Cut(section, "."); nested {
			fmt.Fprintf(&b, "[%s %s]\n", group, quote(sub))
		} else {
			fmt.Fprintf(&b, "[%s]\n", section)
		}
		if at.isSet {
			fmt.Fprintf(&b, "\t%s = %s\n", name, quote(at.value))
		} else {
			fmt.Fprintf(&b, "\t%s\n", name)
		}
	}
	return b.String()
}

func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value) + `"`
}

// passed lists the environment variables of the user that a call to a remote gets.
var passed = []string{
	"HOME", "USER", "LOGNAME", "TMPDIR", "LANG",
	"XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME",
	"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
	"GNUPGHOME", "GPG_TTY",
	"GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_AUTH_SOCK", "SSH_AGENT_PID",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT",
	"GIT_PROXY_COMMAND", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
	"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
}

// variable matches a use of an environment variable in a shell command.
var variable = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)

// Environ returns the environment of a call to a remote. It takes from the list environ the
// variables that git and ssh need, and the variables that a setting's value uses. An example of
// such a value is a credential helper that prints the token in a variable.
func (s Settings) Environ(environ []string) (env []string) {
	names := slices.Clone(passed)
	for _, at := range s {
		for _, m := range variable.FindAllStringSubmatch(at.value, -1) {
			names = append(names, m[1])
		}
	}
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(names, name) {
			env = append(env, entry)
		}
	}
	return env
}

// callers returns the environment variables with which a user chooses the files of git's settings.
func callers() (env []string) {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name == "GIT_CONFIG" || name == "GIT_CONFIG_PARAMETERS" {
			continue
		}
		if strings.HasPrefix(name, "GIT_CONFIG") || name == "XDG_CONFIG_HOME" {
			env = append(env, entry)
		}
	}
	return env
}
