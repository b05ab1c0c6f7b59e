package redact

import (
	"slices"
	"strings"
)

// IsSecretName reports whether an environment variable with this name might hold a secret. It
// ignores the case of letters.
func IsSecretName(name string) bool {
	name = strings.ToUpper(name)
	switch {
	case countsTokens(name), slices.Contains(processMarks, name):
		return false
	case slices.Contains(carriers, name), strings.HasPrefix(name, "BUNDLE_") && strings.Contains(name, "__"):
		return true
	}
	for _, part := range []string{
		"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY",
		"PRIVATE_KEY", "AUTHORIZATION", "COOKIE", "BEARER", "CONNECTION_STRING", "WEBHOOK",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, end := range []string{"_KEY", "_KEYS", "_PASS", "_PWD", "_PAT", "_AUTH", "_JWT", "_DSN"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// processMarks are the variables by which a CI system finds the processes of a job. They hold no
// secret, and a process without them outlives the job.
var processMarks = []string{"JENKINS_NODE_COOKIE", "JENKINS_SERVER_COOKIE", "HUDSON_COOKIE", "HUDSON_SERVER_COOKIE"}

// carriers are variables that hold credentials and do not say so in their names. Those of Bundler
// have the name of a host, such as BUNDLE_RUBYGEMS__PKG__GITHUB__COM.
var carriers = []string{"DOCKER_AUTH_CONFIG", "KUBE_CONFIG", "NETRC"}

// countsTokens reports whether the name is about the tokens of a language model, such as
// MAX_OUTPUT_TOKENS. An agent needs such a variable. If its value were redacted, that number would
// disappear from every text.
func countsTokens(name string) bool {
	if strings.HasPrefix(name, "TOKENIZERS_") {
		return true
	}
	if !strings.HasSuffix(name, "_TOKENS") {
		return false
	}
	for _, word := range strings.Split(name, "_") {
		switch word {
		case "MAX", "MIN", "NUM", "LIMIT", "BUDGET", "COUNT":
			return true
		}
	}
	return false
}

// IsSecretValue reports whether value holds a credential of a known shape: a provider's token, a
// JWT, a private key, a URL with a password.
func IsSecretValue(value string) bool { return shapesOnly().Changes(value) }
