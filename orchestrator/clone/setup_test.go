package clone

import (
	"slices"
	"testing"
)

// TestSecretsIn: a secret in a copied file is known however a program reads the line.
func TestSecretsIn(t *testing.T) {
	for text, want := range map[string]string{
		"A_TOKEN=plain-words-22":                   "plain-words-22",
		"export A_TOKEN = plain-words-22 \n":       "plain-words-22",
		"A_TOKEN='plain-words-22' # prod":          "plain-words-22",
		"A_TOKEN=\"plain words # 22\"":             "plain words # 22",
		"X=1\nA_TOKEN=\"line-one\nline-two\"\nY=2": "line-one\nline-two",
		`A_TOKEN=$'tab\tbed-words'`:                "tab\tbed-words",
		"B=1\r\nA_TOKEN=plain-words-22\r\n":        "plain-words-22",
		"not shell ( \"\nA_TOKEN=plain-words-22\n": "plain-words-22",
	} {
		if got := secretsIn(text); !slices.Contains(got, want) {
			t.Errorf("of %q are known %q, want %q", text, got, want)
		}
	}
	if got := secretsIn("NODE_ENV=production\nMAX_TOKENS=100000\n"); len(got) > 0 {
		t.Errorf("what is no secret is hidden: %q", got)
	}
}
