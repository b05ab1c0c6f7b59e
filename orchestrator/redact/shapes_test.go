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
	body := b64(48) + "\n" + b64(48) + "\n" + b64(20) + "\n"
	for _, kind := range []string{"RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "} {
		add("PEM "+kind, "%s", "-----BEGIN ", kind, "PRIVATE KEY-----\n", body, "-----END ", kind, "PRIVATE KEY-----")
	}
	add("PEM with headers", "%s", "-----BEGIN RSA ", "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n", body, "-----END RSA PRIVATE KEY-----")
	add("PGP", "%s", "-----BEGIN PGP ", "PRIVATE KEY BLOCK-----\n\n", body, "=abcd\n-----END PGP PRIVATE KEY BLOCK-----")
	pem := "-----BEGIN " + "PRIVATE KEY-----\n" + body + "-----END " + "PRIVATE KEY-----"
	add("PEM in JSON", `{"private_key":"%s"}`, strings.ReplaceAll(pem, "\n", `\n`))
	add("PEM in JSON in JSON", `"{\"private_key\":\"%s\"}"`, strings.ReplaceAll(pem, "\n", `\\n`))
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
		if !SecretValue(fmt.Sprintf(f[1], f[2])) {
			t.Errorf("SecretValue(%s) = false", f[0])
		}
	}
}

// longestShown is how much of a secret can be read in one place.
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

// prefixes are all of the tables: a rule that is lost shows here.
const prefixes = `1//0 7Q~ 8Q~ ABIA ACCA AGE-SECRET-KEY-1 AIza AIzaSy AKIA ASIA ATATT3 ATBB ATCTT3 CCIPAT_ GOCSPX- NRAK- PMAK- SG. api_org_ bkua_ dapi
dckr_oat_ dckr_pat_ discord.com/api/webhooks/ discordapp.com/api/webhooks/ doo_v1_ dop_v1_ gho_ ghp_ ghr_ ghs_ ghu_ github_pat_ glagent- glcbt- gldt-
glffct- glft- glimt- gloas- glpat- glptt- glrt- glsa_ glsoat- gsk_ hf_ hooks.slack.com/services/ hooks.slack.com/workflows/ hvb. hvs. lin_api_ lsv2_pt_
lsv2_sk_ npm_ ntn_ pplx- pscale_tkn_ pul- pypi- r8_ rk_live_ rk_test_ rubygems_ sbp_ shpat_ shpss_ sk_live_ sk_test_ sntrys_ sntryu_ sq0atp- sq0csp-
tgp_v1_ tskey- whsec_ xai- xapp- xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxp- xoxr- xoxs- ya29.`

// Each rule finds the shortest token of its kind, and no shorter one.
func TestEveryPrefix(t *testing.T) {
	r, known := New(nil), map[string]rule{}
	for _, u := range append(anywhere, alone...) {
		for _, p := range u.prefixes {
			known[p] = u
		}
	}
	for _, p := range strings.Fields(prefixes) {
		u, ok := known[p]
		if !ok {
			t.Errorf("no rule for %s", p)
			continue
		}
		token := p + strings.Repeat("A", u.least)
		if !strings.Contains(u.class, "A") {
			token = p + strings.Repeat("a", u.least)
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

// rulePrefix is the prefix of the rule that finds s.
func rulePrefix(s string) string {
	for _, u := range append(anywhere, alone...) {
		for _, p := range u.prefixes {
			if strings.HasPrefix(s, p) {
				return p
			}
		}
	}
	return ""
}
