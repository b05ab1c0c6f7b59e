package redact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// shape is the form of a provider's tokens: what each begins with, and the whole. The pattern is matched at the beginning; a
// group in it narrows down what is secret.
type shape struct {
	begin   []byte
	pattern func() *regexp.Regexp // compiled when the beginning is first seen: most runs see none
	inWord  bool                  // it may begin in the middle of a word
}

// tokenLimit bounds the length of a token, in bytes, and with it what a stream holds back.
const tokenLimit = 8 << 10

// shapes are the forms of the common providers: git forges, clouds, model APIs, chat, package registries, JSON Web Tokens,
// private keys and passwords in addresses.
var shapes = sync.OnceValue(func() []shape {
	make := func(begin, rest string) shape {
		return shape{begin: []byte(begin), pattern: sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`^` + regexp.QuoteMeta(begin) + rest)
		})}
	}
	all := []shape{
		make("github_pat_", `[A-Za-z0-9_]{22,255}`),
		make("glpat-", `[A-Za-z0-9_-]{20,64}`),
		make("AKIA", `[0-9A-Z]{16}\b`), make("ASIA", `[0-9A-Z]{16}\b`),
		make("sk-ant-", `[A-Za-z0-9_-]{20,255}`), make("sk-proj-", `[A-Za-z0-9_-]{20,255}`), make("sk-", `[A-Za-z0-9]{32,255}`),
		make("AIza", `[0-9A-Za-z_-]{35}`),
		make("npm_", `[A-Za-z0-9]{36}`), make("hf_", `[A-Za-z0-9]{30,64}`), make("pypi-", `[A-Za-z0-9_-]{50,255}`),
		make("eyJ", `[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`),
	}
	for _, kind := range strings.Split("p o u s r", " ") {
		all = append(all, make("gh"+kind+"_", `[A-Za-z0-9]{36,255}`))
	}
	for _, kind := range strings.Split("a b p r s", " ") {
		all = append(all, make("xox"+kind+"-", `[A-Za-z0-9-]{10,255}`))
	}
	key := make("-----BEGIN ", `[A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=:,\-\s\\]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\z)`)
	login := make("://", `[^\s/:@"']{0,100}:([^\s/@"']{3,200})@`)
	key.inWord, login.inWord = true, true
	return append(all, key, login)
})

// match returns the token that begins at i.
func (s shape) match(b []byte, i int) (from, to int, ok bool) {
	if i > 0 && !s.inWord && wordByte(b[i-1]) {
		return 0, 0, false
	}
	at := s.pattern().FindSubmatchIndex(b[i:min(len(b), i+tokenLimit)])
	switch {
	case at == nil:
		return 0, 0, false
	case len(at) > 2:
		return i + at[2], i + at[3], true
	default:
		return i + at[0], i + at[1], true
	}
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

// SecretValue reports whether a value has the shape of a provider's token, a private key or an address with a password.
func SecretValue(value string) bool {
	b := []byte(value)
	for _, s := range shapes() {
		for i := 0; ; i++ {
			next := bytes.Index(b[i:], s.begin)
			if next < 0 {
				break
			}
			i += next
			if _, _, ok := s.match(b, i); ok {
				return true
			}
		}
	}
	return false
}

// SecretName reports whether a variable of that name holds a secret, by its name: TOKEN, SECRET, PASSWORD and the like anywhere
// in it, KEY or PAT at its end. Names that count or configure tokens of text are no secrets.
func SecretName(name string) bool {
	name = strings.ToUpper(name)
	for _, harmless := range []string{"TOKENS", "TOKENIZER"} {
		name = strings.ReplaceAll(name, harmless, "")
	}
	for _, word := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "PRIVATE_KEY"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	for _, end := range []string{"_KEY", "_PAT", "_PWD", "_AUTH"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
