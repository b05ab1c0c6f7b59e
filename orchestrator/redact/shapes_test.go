package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// chars returns n random characters of an alphabet, at least one of them a digit
// where it has some.
func chars(rng *rand.Rand, n int, of string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = of[rng.IntN(len(of))]
	}
	if n > 2 && strings.Contains(of, digits) {
		b[n/2] = '7'
	}
	return string(b)
}

// fakeTokens are one of each kind, put together here so that no scanner finds
// them in the source: name, what is around the secret, and the secret.
func fakeTokens() (all [][3]string) {
	rng := rand.New(rand.NewPCG(11, 12))
	any := func(n int) string { return chars(rng, n, alnum) }
	url := func(n int) string { return chars(rng, n, alnum+"_-") }
	low := func(n int) string { return chars(rng, n, digits+"abcdef") }
	b64 := func(n int) string { return base64.StdEncoding.EncodeToString([]byte(any(n))) }
	add := func(name, around string, parts ...string) {
		all = append(all, [3]string{name, around, strings.Join(parts, "")})
	}
	for _, p := range []string{"ghp", "gho", "ghu", "ghs", "ghr"} {
		add("GitHub "+p, "%s", p, "_", any(36))
	}
	add("GitHub, fine-grained", "%s", "github", "_pat_", any(22), "_", any(59))
	add("GitLab", "%s", "glpat", "-", url(20))
	add("GitLab, routable", "%s", "glpat", "-", url(27), ".01.", any(9))
	add("GitLab runner", "%s", "glrt", "-", url(20))
	add("Bitbucket app password", "%s", "ATB", "B", any(32))
	add("Bitbucket access token", "%s", "ATC", "TT3xFfGN0", url(150), "=", any(8))
	add("Atlassian", "%s", "ATA", "TT3xFfGF0", url(150), "=", any(8))
	add("AWS key id", "%s", "AK", "IA", chars(rng, 16, upper+"234567"))
	add("AWS temporary key id", "%s", "AS", "IA", chars(rng, 16, upper+"234567"))
	add("AWS secret key", "aws_secret_access_key = %s\n", chars(rng, 40, alnum+"+/"))
	add("AWS secret key, JSON", `{"SecretAccessKey": "%s",`, chars(rng, 40, alnum+"+/"))
	add("AWS secret key, exported", `export AWS_SECRET_ACCESS_KEY="%s"`, chars(rng, 40, alnum+"+/"))
	add("AWS session token", "AWS_SESSION_TOKEN=%s", b64(150))
	add("Google API key", "%s", "AI", "zaSy", url(33))
	add("Google OAuth", "%s", "ya", "29.", url(60))
	add("Google client secret", "%s", "GOC", "SPX-", url(28))
	add("Azure storage", "AccountName=x;AccountKey=%s;Endpoint", chars(rng, 86, alnum+"+/"), "==")
	add("Azure SAS", "https://x.blob.core.windows.net/c?sv=2022&sig=%s&se=1", any(43), "%3D")
	add("Azure service bus", "SharedAccessKeyName=x;SharedAccessKey=%s", any(43), "=")
	add("Azure client secret", "abc%s", "8", "Q~", chars(rng, 34, alnum+"_-.~"))
	add("OpenAI", "%s", "s", "k-", any(48))
	add("OpenAI project", "%s", "s", "k-proj-", url(80))
	add("Anthropic", "%s", "s", "k-ant-api03-", url(93), "AA")
	add("OpenRouter", "%s", "s", "k-or-v1-", low(64))
	add("Hugging Face", "%s", "h", "f_", chars(rng, 34, lower+upper))
	add("Groq", "%s", "gs", "k_", any(52))
	add("Slack bot", "%s", "xox", "b-123456789012-1234567890123-", any(24))
	add("Slack app", "%s", "xap", "p-1-A0123-456-", low(32))
	add("Slack webhook", "https://%s", "hooks.slack", ".com/services/T0000/B0000/", any(24))
	add("Discord bot", "%s", base64.RawURLEncoding.EncodeToString([]byte("123456789012345678")), ".", url(6), ".", url(38))
	add("Discord webhook", "https://%s", "discord", ".com/api/webhooks/123456789012345678/", url(68))
	add("Telegram", "bot1234567890%s", ":A", "A", url(33))
	add("Stripe", "%s", "sk", "_live_", any(24))
	add("Stripe, test", "%s", "sk", "_test_", any(99))
	add("Stripe webhook", "%s", "wh", "sec_", any(32))
	add("npm", "%s", "np", "m_", any(36))
	add("PyPI", "%s", "py", "pi-AgEIcHlwaS5vcmc", url(120))
	add("Docker", "%s", "dck", "r_pat_", url(27))
	add("SendGrid", "%s", "S", "G.", url(22), ".", url(43))
	add("Twilio", "%s", "S", "K", low(32))
	add("Vault", "%s", "hv", "s.", any(90))
	add("DigitalOcean", "%s", "do", "p_v1_", low(64))
	add("Shopify", "%s", "shp", "at_", low(32))
	add("JWT", "%s", "ey", "JhbGciOiJIUzI1NiJ9", ".ey", "JzdWIiOiIxMjM0In0", ".", url(43))
	add("password in a URL", "postgres://user:%s@db:5432/x", any(16))
	add("password without a user", "redis://:%s@db:5432/x", any(16))
	add("password in a URL in a URL", "next=postgres%%3A%%2F%%2Fuser%%3A%s%%40db", any(16))
	add("Authorization, Bearer", "Authorization: Bearer %s\r\n", url(30))
	add("Authorization, curl", `curl -H "Authorization: token %s" x`, low(20))
	add("Authorization, Basic", "authorization: Basic %s\n", b64(20))
	add("Authorization, JSON", `{"Authorization":"Bearer %s"}`, url(30))
	add("Authorization, JSON in JSON", `"{\"Authorization\":\"Bearer %s\"}"`, url(30))
	add("API key header", "x-api-key: %s\n", any(32))
	add("GitLab header", "PRIVATE-TOKEN: %s\n", url(20))
	add("Bearer", "Bearer %s", any(32))
	add("password, form", "user=me&password=%s&next=x", chars(rng, 12, lower))
	add("password, variable", "DB_PASSWORD=%s\n", chars(rng, 12, alnum+"!#-_"))
	add("password, connection string", "host=db password=%s dbname=x", any(14))
	add("password, YAML", "password: %s\n", any(12))
	add("password, JSON", `{"password": "%s"}`, any(12))
	add("password, JSON in JSON", `"{\"password\":\"%s\"}"`, any(12))
	add("cookie", "GET / HTTP/1.1\r\nCookie: %s\r\nAccept: x", "sid=", any(24), "; theme=", any(8))
	add("cookie, curl", `curl -H "cookie: session=%s" https://example.com`, any(24))
	add("cookie set", "< Set-Cookie: sid=%s; Path=/; HttpOnly", any(24))
	add("cookie set, JSON", `{"set-cookie":["sid=%s; Path=/"]}`, any(24))
	body := b64(48) + "\n" + b64(48) + "\n" + b64(20) + "\n"
	for _, kind := range []string{"RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "} {
		add("PEM "+kind, "%s", "-----BEGIN ", kind, "PRIVATE KEY-----\n", body, "-----END ", kind, "PRIVATE KEY-----")
	}
	add("PEM with headers", "%s", "-----BEGIN RSA ", "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n", body, "-----END RSA PRIVATE KEY-----")
	add("PGP", "%s", "-----BEGIN PGP ", "PRIVATE KEY BLOCK-----\n\n", body, "=abcd\n-----END PGP PRIVATE KEY BLOCK-----")
	pem := "-----BEGIN " + "PRIVATE KEY-----\n" + body + "-----END " + "PRIVATE KEY-----"
	add("PEM in JSON", `{"private_key":"%s"}`, strings.ReplaceAll(pem, "\n", `\n`))
	add("PEM in JSON in JSON", `"{\"private_key\":\"%s\"}"`, strings.ReplaceAll(pem, "\n", `\\n`))
	add("PEM in JSON, indented", `{"k":"|\n  %s"}`, strings.ReplaceAll(pem, "\n", `\n    `))
	add("PEM, indented", "key: |\n    %s\n", strings.ReplaceAll(pem, "\n", "\n    "))
	add("PEM, percent", "key=%s&x", strings.NewReplacer("\n", "%0A", " ", "%20", "+", "%2B", "=", "%3D").Replace(pem))
	add("PEM, cut off", "%s", pem[:100])
	add("PEM in base64", "key: %s\n", base64.StdEncoding.EncodeToString([]byte(pem)))
	add("PEM in base64 over lines", "%s\n", strings.TrimSpace(wrapLines(base64.StdEncoding.EncodeToString([]byte("x"+pem+"\n")), 76)))
	add("PEM in base64, indented", "key: |\n    %s\n", strings.ReplaceAll(strings.TrimSpace(wrapLines(base64.StdEncoding.EncodeToString([]byte(pem)), 64)), "\n", "\n    "))
	return all
}

func TestProviderTokens(t *testing.T) {
	r := New(nil)
	for _, f := range fakeTokens() {
		for _, around := range []string{"%s", `{"text":"\n%s\n"}`, "\x1b[31m%s\x1b[0m", "see '%s',"} {
			text := fmt.Sprintf(around, fmt.Sprintf(f[1], f[2]))
			got := r.String(text)
			if shows := longestShown(got, f[2]); !strings.Contains(got, Mark) || shows > 12 {
				t.Errorf("%s: %d characters show: %q as %q", f[0], shows, text, got)
			}
			if got := stream(t, r, text, []byte{0, 6, 2}); got != r.String(text) {
				t.Errorf("%s: in pieces %q", f[0], got)
			}
		}
		if !IsSecretValue(fmt.Sprintf(f[1], f[2])) {
			t.Errorf("SecretValue(%s) = false", f[0])
		}
	}
}

// longestShown is the length of a secret's longest part that shows.
func longestShown(s, secret string) (most int) {
	for _, part := range strings.Split(s, Mark) {
		for i := range secret {
			for most < len(secret)-i && strings.Contains(part, secret[i:i+most+1]) {
				most++
			}
		}
	}
	return most
}

// Tokens in base64 and hex, as configuration holds them.
func TestProviderTokensEncoded(t *testing.T) {
	r := New(nil)
	for _, f := range fakeTokens() {
		if f[1] != "%s" || len(f[2]) > 200 || strings.HasPrefix(f[0], "Discord") || len(rulePrefix(f[2])) < 4 {
			continue
		}
		for shift := range 3 {
			text := base64.StdEncoding.EncodeToString([]byte("k=x"[:shift] + f[2] + "\n"))
			got := r.String("token: " + text + "\n")
			if shows := longestShown(got, text); !strings.Contains(got, Mark) || shows > 10 {
				t.Errorf("%s in base64 at %d: %q shows as %q", f[0], shift, text, got)
			}
		}
		text := hex.EncodeToString([]byte(f[2]))
		if got := r.String("token: " + text); got != "token: "+Mark {
			t.Errorf("%s in hex: %q shows as %q", f[0], text, got)
		}
	}
}

// prefixes are those of all tables, each with the least length of the rest: a lost or weakened rule
// shows here.
const prefixes = `1//0 40, 7Q~ 31, 8Q~ 31, ABIA 16, ACCA 16, AGE-SECRET-KEY-1 24, AIza 35, AIzaSy 33, AKIA 16, ASIA 16, ATATT3 60, ATBB 32, ATCTT3 60,
CCIPAT_ 20, GOCSPX- 24, NRAK- 24, PMAK- 24, SG. 50, api_org_ 30, bkua_ 20, dapi 32, dckr_oat_ 20, dckr_pat_ 20, discord.com/api/webhooks/ 60,
discordapp.com/api/webhooks/ 60, doo_v1_ 24, dop_v1_ 24, gho_ 36, ghp_ 36, ghr_ 36, ghs_ 36, ghu_ 36, github_pat_ 40, glagent- 20, glcbt- 20,
gldt- 20, glffct- 20, glft- 20, glimt- 20, gloas- 20, glpat- 20, glptt- 20, glrt- 20, glsa_ 24, glsoat- 20, gsk_ 32, hf_ 30,
hooks.slack.com/services/ 24, hooks.slack.com/workflows/ 24, hvb. 24, hvs. 24, lin_api_ 24, lsv2_pt_ 40, lsv2_sk_ 40, npm_ 36, ntn_ 40,
pplx- 40, pscale_tkn_ 24, pul- 40, pypi- 60, r8_ 32, rk_live_ 20, rk_test_ 20, rubygems_ 20, sbp_ 40, shpat_ 24, shpss_ 24, sk_live_ 20,
sk_test_ 20, sntrys_ 24, sntryu_ 24, sq0atp- 24, sq0csp- 24, tgp_v1_ 40, tskey- 24, whsec_ 20, xai- 32, xapp- 10, xoxa- 10, xoxb- 10, xoxc- 10,
xoxd- 10, xoxe- 10, xoxe. 10, xoxp- 10, xoxr- 10, xoxs- 10, ya29. 30`

// Each rule finds the shortest token of its kind, and no shorter one.
func TestEveryPrefix(t *testing.T) {
	r, known := New(nil), map[string]bool{}
	for _, u := range append(anywhereRules, wordStartRules...) {
		for _, p := range u.prefixes {
			known[p] = true
		}
	}
	for _, pair := range strings.Split(prefixes, ",") {
		var p string
		var least int
		if _, err := fmt.Sscan(pair, &p, &least); err != nil {
			t.Fatal(err)
		}
		token := p + strings.Repeat("A", least)
		if p == "dapi" {
			token = strings.ToLower(token)
		}
		if got := r.String("=" + token + "\n"); got != "="+Mark+"\n" {
			t.Errorf("String(%q) = %q", token, got)
		}
		if short := token[:len(token)-1]; p != "AIzaSy" && r.Changes("="+short+"\n") {
			t.Errorf("String(%q) = %q", short, r.String(short))
		}
		delete(known, p)
	}
	for p := range known {
		t.Errorf("%s is not in the list of this test", p)
	}
}

// Each name that gives a credential away, in front of the shortest one.
func TestEveryName(t *testing.T) {
	r := New(nil).ForFiles() // by the shapes of their values alone
	rng := rand.New(rand.NewPCG(21, 22))
	for _, tt := range []struct {
		names, value string
		equal        bool
	}{
		{"aws_secret_access_key AWS_SECRET_ACCESS_KEY SecretAccessKey secretAccessKey secret_access_key", chars(rng, 40, alnum+"+/"), true},
		{"aws_session_token AWS_SESSION_TOKEN SessionToken sessionToken", chars(rng, 60, alnum+"+/"), false},
		{"AccountKey SharedAccessKey", chars(rng, 39, alnum+"+/") + "=", false},
		{"sig", chars(rng, 37, alnum) + "%3d", false},
		{"x-api-key X-Api-Key X-API-Key x-goog-api-key X-Goog-Api-Key PRIVATE-TOKEN Private-Token private-token X-Vault-Token x-vault-token",
			chars(rng, 16, alnum), false},
	} {
		for _, name := range strings.Fields(tt.names) {
			if got, want := r.String("a "+name+"="+tt.value+"\n"), "a "+name+"="+Mark+"\n"; got != want {
				t.Errorf("String of %s = %q, want %q", name, got, want)
			}
			if short := name + "=" + tt.value[1:]; r.Changes(short + "\n") {
				t.Errorf("String(%q) = %q", short, r.String(short))
			}
			if long := name + "=a" + tt.value; r.Changes(long+"\n") == tt.equal {
				t.Errorf("String(%q) = %q", long, r.String(long))
			}
		}
	}
}

// The text behind a token in base64 is not part of it.
func TestTokenWithinBase64(t *testing.T) {
	for shift := range 3 {
		const token = "ghp" + "_0123456789abcdefghijABCDEFGHIJ012345"
		text := base64.StdEncoding.EncodeToString([]byte("xyz"[:shift] + token + ", and other words"))
		n := (shift + len(token)) * 8
		if got, want := New(nil).String(text), text[:(shift*8+5)/6]+Mark+text[(n+5)/6:]; got != want {
			t.Errorf("at %d: String(%q) = %q, want %q", shift, text, got, want)
		}
	}
}

// rulePrefix is the prefix of the rule that finds s.
func rulePrefix(s string) string {
	for _, u := range append(anywhereRules, wordStartRules...) {
		for _, p := range u.prefixes {
			if strings.HasPrefix(s, p) {
				return p
			}
		}
	}
	return ""
}

// TestNamedValues: a name that says secret in the environment says it in a text, too: seed 002, "Secret
// Hygiene". The contents of files are searched by shapes alone.
func TestNamedValues(t *testing.T) {
	for text, secret := range map[string]bool{
		"token=9f8e7d6c5b4a":                             true,
		"the secret: 9f8e7d6c5b4a39281706":               true,
		"api_key=9f8e7d6c5b4a39281706":                   true,
		`{"apiKey": "9f8e7d6c5b4a39281706"}`:             true,
		"X-Api-Key: 9f8e7d6c5b4a":                        true,
		"GITHUB_TOKEN=abc123def456":                      true,
		"password: hunter-in-the-dark":                   true,
		"DJANGO_SECRET_KEY=Xk29dkQpz81":                  true,
		"STRIPE_KEY=Xk29dkQpz82":                         true,
		"PRIVATE_KEY: Xk29dkQpz83":                       true,
		"MYSQL_PWD=Xk29dkQpz84":                          true,
		"MY_CREDENTIALS=Xk29dkQpz85":                     true,
		"GITHUB_PAT=Xk29dkQpz86":                         true,
		"NPM_AUTH=Xk29dkQpz87":                           true,
		"SECRET_KEY_BASE=Xk29dkQpz88":                    true,
		"SESSION_COOKIE=Xk29dkQpz89":                     true,
		"token=abcdefghijkl":                             true,
		"GITHUB_TOKEN=plainletters":                      true,
		"token=self.settings.token":                      false,
		"token=next_token()":                             false,
		"api_key: required":                              false,
		"token=docs/tokens/list":                         false,
		"token=next_token_value":                         false,
		"SyntaxError: Unexpected token: identifier2name": false,
		"token = self.next_token2":                       false,
		"credentials = load_credentials_v2":              false,
		"Secret: kubernetes-secret-v2.yaml is missing":   false,
		"PUBLIC_KEY=keys/public2048.pem":                 false,
		"IDEMPOTENCY_KEY=order-1234-create":              false,
		"LOGIN_TITLE_KEY=loginpagetitle":                 false,
		"AUTH_COOKIE=authcookiename":                     false,
		"SSH_KEY=/home/ci/.ssh/id_ed25519":               false,
		"PRIMARY_KEY=id":                                 false,
		"token = getToken()":                             false,
		"token: string":                                  false,
		`"max_tokens": 4096`:                             false,
		"token=${GITHUB_TOKEN}":                          false,
		"secret: see docs/secrets.md":                    false,
		"password: required":                             false,
		"an unexpected token: 1:17":                      false,
		"tokens read 120000, written 3000":               false,
		"token_type=bearer12":                            false,
		"the api key: ask the administrator for it":      false,
	} {
		r := New(nil)
		if got := r.Changes(text); got != secret {
			t.Errorf("%q: hidden: %t, want %t: %s", text, got, secret, r.String(text))
		}
		if r.ForFiles().Changes(text) {
			t.Errorf("%q: it is taken for a secret in a file", text)
		}
	}
}
