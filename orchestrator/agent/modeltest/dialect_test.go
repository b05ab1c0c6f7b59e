package modeltest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asks are a question to each API; PROMPT is the user's message.
var asks = []struct{ name, path, body, stream string }{
	{"anthropic", "/v1/messages?beta=true",
		`{"model":"m","system":[{"type":"text","text":"sys"}],"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":PROMPT}]STREAM}`,
		`,"stream":true`},
	{"responses", "/v1/responses",
		`{"model":"m","instructions":"sys","tools":[{"type":"function","name":"shell"}],"input":[{"role":"user","content":PROMPT}]STREAM}`,
		`,"stream":true`},
	{"chat", "/v1/chat/completions",
		`{"model":"m","tools":[{"type":"function","function":{"name":"bash"}}],` +
			`"messages":[{"role":"system","content":"sys"},{"role":"user","content":PROMPT}]STREAM}`,
		`,"stream":true`},
	{"gemini", "/v1beta/models/m:generateContent", `{"systemInstruction":{"parts":[{"text":"sys"}]},` +
		`"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":PROMPT}]}]}`, "gemini"},
}

func request(t *testing.T, ctx context.Context, s *Server, ask int, streaming bool, script Script) *http.Request {
	t.Helper()
	a := asks[ask]
	path, stream := a.path, ""
	switch {
	case streaming && a.stream == "gemini":
		path = strings.Replace(path, ":g", ":streamG", 1) + "?alt=sse"
	case streaming:
		stream = a.stream
	}
	body := strings.NewReplacer("PROMPT", string(encode("Work!\n"+script.String())), "STREAM", stream).Replace(a.body)
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func post(t *testing.T, s *Server, ask int, streaming bool, script Script) (code int, header http.Header, body string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(request(t, t.Context(), s, ask, streaming, script))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, resp.Header, string(data) + " ERROR " + err.Error()
	}
	return resp.StatusCode, resp.Header, string(data)
}

// TestDialects: each API sends the script's text, whole and as a stream of JSON, and records the
// request.
func TestDialects(t *testing.T) {
	usage := Usage{Input: 7777, Cached: 1111, Output: 33}
	for i, a := range asks {
		for _, streaming := range []bool{false, true} {
			s := Start(t)
			code, _, said := post(t, s, i, streaming, Play(Say("hello you").Using(usage)))
			if code != 200 || !strings.Contains(said, "hello you") || !strings.Contains(said, "1111") || !strings.Contains(said, "33") {
				t.Errorf("%s, streaming %t: %d %s, want the text and its usage", a.name, streaming, code, said)
			}
			if streaming {
				checkStream(t, said)
			}
			_, _, said = post(t, s, i, streaming, Play(Shell("ls -l")))
			if !strings.Contains(said, "ls -l") {
				t.Errorf("%s, streaming %t: %s, want a call of ls -l", a.name, streaming, said)
			}
			q := s.Requests()[0]
			if q.API != a.name || q.Model != "m" || q.System != "sys\n" || len(q.Tools) != 1 || q.Streaming != streaming || q.Answer != "say" {
				t.Errorf("%s, streaming %t: noted %+v", a.name, streaming, q)
			}
		}
	}
}

func checkStream(t *testing.T, text string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if found && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Errorf("event %s, want JSON", data)
		}
	}
}

// TestFaults: a refusal has the API's body and headers, a cut stream has no end, and a counted
// fault passes.
func TestFaults(t *testing.T) {
	for i, a := range asks {
		s := Start(t)
		for _, code := range []int{400, 401, 403, 404, 429, 500, 503, 529} {
			got, header, said := post(t, s, i, true, Play(Status(code, "retry-after", "7")))
			var body struct{ Error map[string]any }
			err := json.Unmarshal([]byte(said), &body)
			if err != nil || body.Error["message"] == "" || got != code || header.Get("Retry-After") != "7" {
				t.Errorf("%s: refused with %d %v %s, want %d", a.name, got, header, said, code)
			}
		}
		passing := Play(Status(500).Times(2), Say("fine"))
		var codes []int
		for range 3 {
			code, _, _ := post(t, s, i, true, passing)
			codes = append(codes, code)
		}
		if !slices.Equal(codes, []int{500, 500, 200}) {
			t.Errorf("%s: a fault that passes = %v, want 500 500 200", a.name, codes)
		}
		for _, streaming := range []bool{false, true} {
			if _, _, said := post(t, s, i, streaming, Play(Cut())); !strings.Contains(said, "ERROR unexpected EOF") {
				t.Errorf("%s, streaming %t: a cut stream = %s, want an unexpected end", a.name, streaming, said)
			}
		}
	}
}

// TestLimited: the headers from which a program knows when to try again.
func TestLimited(t *testing.T) {
	reset := time.Unix(1_800_000_000, 0)
	_, header, _ := post(t, Start(t), 0, true, Play(Limited(reset, 90*time.Second)))
	want := []string{"90", "1800000000"}
	if got := []string{header.Get("retry-after"), header.Get("anthropic-ratelimit-unified-reset")}; !slices.Equal(got, want) {
		t.Errorf("headers = %v, want %v", got, want)
	}
}

// TestSilence: a hang sends nothing, a stall the first event, until the client leaves.
func TestSilence(t *testing.T) {
	for i, a := range asks {
		for _, streaming := range []bool{false, true} {
			s := Start(t)
			ctx, leave := context.WithCancel(t.Context())
			failed := make(chan error)
			go func() {
				_, err := http.DefaultClient.Do(request(t, ctx, s, i, streaming, Play(Hang())))
				failed <- err
			}()
			s.Await(t, 1)
			leave()
			if err := <-failed; err == nil {
				t.Errorf("%s: a hang answered", a.name)
			}
			resp, err := http.DefaultClient.Do(request(t, t.Context(), s, i, streaming, Play(Stall())))
			if err != nil {
				t.Fatal(err)
			}
			if n, err := resp.Body.Read(make([]byte, 1000)); n == 0 {
				t.Errorf("%s, streaming %t: of a stall came %v, want a first event", a.name, streaming, err)
			}
			resp.Body.Close()
		}
	}
}

func TestSideQuestions(t *testing.T) {
	s := Start(t)
	for _, tt := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", "/v1/messages/count_tokens", "{}", 200},
		{"POST", "/v1beta/models/m:countTokens", "{}", 200},
		{"POST", "/v1/messages", "nonsense", 400},
		{"GET", "/v1/models", "", 404},
		{"HEAD", "/", "", 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.code {
			t.Errorf("%s %s = %d, want %d", tt.method, tt.path, resp.StatusCode, tt.code)
		}
	}
	if diff := cmp.Diff([]string{"GET /v1/models", "HEAD /"}, s.Unknown()); diff != "" {
		t.Errorf("Unknown (-want +got):\n%s", diff)
	}
}

// FuzzBodies: no body makes the model panic, and its answers are JSON.
func FuzzBodies(f *testing.F) {
	script := string(encode(Play(Walk()).String()))
	for i, a := range asks {
		f.Add(i, []byte(strings.NewReplacer("PROMPT", script, "STREAM", "").Replace(a.body)))
	}
	f.Add(0, []byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"text":"x"}]}]}]}`))
	f.Add(1, []byte(`{"input":"plain"}`))
	f.Add(1, []byte(`{"input":[{"type":"function_call_output","output":[1]},{"role":"developer","content":null}]}`))
	f.Add(2, []byte(`{"messages":[{"role":"assistant","content":null,"tool_calls":[{}]}]}`))
	f.Add(3, []byte(`{"contents":[{"parts":[{"functionCall":{}},{"functionResponse":{}}]}]}`))
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		i = max(i%len(asks), 0)
		w := recorder{header: http.Header{}}
		r, err := http.NewRequestWithContext(t.Context(), "POST", asks[i].path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		New().ServeHTTP(&w, r)
		if w.header.Get("content-type") == "application/json" && !json.Valid(w.body.Bytes()) {
			t.Errorf("%s: %s, want JSON", asks[i].name, w.body.Bytes())
		}
	})
}

type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(int)             {}
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
