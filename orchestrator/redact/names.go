package redact

import (
	"strings"
)

// IsSecretName reports whether an environment variable with this name might hold a secret. It
// ignores the case of letters.
func IsSecretName(name string) bool {
	name = strings.ToUpper(name)
	if countsTokens(name) {
		return false
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
