package view_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/view"
)

// stage is a server and what it shows.
type stage struct {
	*testing.T
	url    string // with the token
	host   string
	state  atomic.Value
	looks  atomic.Int64
	draws  atomic.Int64
	client *http.Client // with the cookie
}

func serve(t *testing.T) *stage {
	t.Helper()
	l, err := view.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, &http.Transport{})
}

// pipes is a listener without a network, as a synctest bubble needs it.
type pipes struct {
	calls  chan net.Conn
	closed chan struct{}
	close  func()
}

func newPipes() *pipes {
	p := &pipes{calls: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.close(); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.calls <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func serveOn(t *testing.T, l net.Listener, transport *http.Transport) *stage {
	t.Helper()
	s := &stage{T: t}
	s.state.Store("one")
	server := view.New(view.Source{Policy: "default-src 'none'; connect-src 'self'", State: func() string { s.looks.Add(1); return s.state.Load().(string) },
		Render: func() ([]byte, error) {
			s.draws.Add(1)
			if s.state.Load() == "broken" {
				return nil, errors.New("it cannot be read")
			}
			return []byte("<h1>" + s.state.Load().(string) + "</h1>"), nil
		},
		Difference: func(was, now []byte) []byte { return fmt.Appendf(nil, "%s to %s", was, now) },
	}, l.Addr())
	stop, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(stop, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	s.url, s.host = server.URL(l.Addr()), l.Addr().String()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Jar: jar, Transport: transport}
	t.Cleanup(s.client.CloseIdleConnections)
	if body, code := s.get(s.url, nil); code != 200 || !strings.Contains(body, "url=/") {
		t.Fatalf("%d %s", code, body)
	}
	if body, code := s.get("http://"+s.host+"/", nil); code != 200 || body != "<h1>one</h1>" {
		t.Fatalf("%d %s", code, body)
	}
	return s
}

func (s *stage) get(url string, change func(*http.Request)) (body string, code int) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, url, nil)
	if err != nil {
		s.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return string(text), answer.StatusCode
}

// events opens the stream of events; each line arrives in the channel.
func (s *stage) events(ctx context.Context) (<-chan string, int) {
	s.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.host+"/events", nil)
	if err != nil {
		s.Fatal(err)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		defer answer.Body.Close()
		for in := bufio.NewScanner(answer.Body); in.Scan(); {
			select {
			case lines <- in.Text():
			case <-ctx.Done(): // the test reads no more
				return
			}
		}
	}()
	return lines, answer.StatusCode
}

// TestDoors: only a browser that knows the token, asks the right host and comes from the page
// itself is let in, and nothing can be changed.
func TestDoors(t *testing.T) {
	s := serve(t)
	page := "http://" + s.host + "/"
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, tt := range map[string]struct {
		url    string
		change func(*http.Request)
		want   int
	}{
		"the page":                 {page, nil, 200},
		"its own origin":           {page, header("Origin", "http://"+s.host), 200},
		"DNS rebinding":            {page, func(r *http.Request) { r.Host = "evil.test" }, 421},
		"with its port":            {page, func(r *http.Request) { r.Host = "evil.test" + s.host[strings.LastIndex(s.host, ":"):] }, 421},
		"without a host":           {page, func(r *http.Request) { r.Host = "127.0.0.1" }, 421},
		"another origin":           {page, header("Origin", "http://evil.test"), 403},
		"another port":             {page, header("Origin", "http://127.0.0.1:1"), 403},
		"an origin of null":        {page, header("Origin", "null"), 403},
		"with TLS":                 {page, header("Origin", "https://"+s.host), 403},
		"an image elsewhere":       {page, header("Sec-Fetch-Site", "cross-site"), 403},
		"a script of another port": {page + "events", header("Sec-Fetch-Site", "same-site"), 403},
		"a frame elsewhere": {page, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "iframe")
		}, 403},
		"a link elsewhere": {page, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "document")
		}, 200},
		"a post":         {page, func(r *http.Request) { r.Method = http.MethodPost }, 405},
		"a guess":        {page + "?token=" + strings.Repeat("0", 64), nil, 403},
		"no token":       {page + "?token=", nil, 403},
		"another path":   {page + "journal.jsonl", nil, 404},
		"a way out":      {page + "../../etc/passwd", nil, 404},
		"a path in dots": {page + "%2e%2e/%2e%2e/etc/passwd", nil, 404},
	} {
		if body, code := s.get(tt.url, tt.change); code != tt.want || code != 200 && strings.Contains(body, "one") {
			t.Errorf("%s: %d %s, want %d", name, code, body, tt.want)
		}
	}
	stranger := &stage{T: t, client: &http.Client{Transport: &http.Transport{}}}
	defer stranger.client.CloseIdleConnections()
	for _, path := range []string{"", "events", "?"} {
		if body, code := stranger.get(page+path, nil); code != 403 || !strings.Contains(body, "open the address that kanban-run view has printed") {
			t.Errorf("a stranger at /%s: %d %s", path, code, body)
		}
	}
}

// TestHeaders: the token leaves the address, and no other page may embed, read or keep this one.
func TestHeaders(t *testing.T) {
	s := serve(t)
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := s.client.Get(s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	cookie := answer.Header.Get("Set-Cookie")
	if answer.StatusCode != 200 || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || strings.Contains(cookie, "Domain") {
		t.Errorf("%d with %q", answer.StatusCode, cookie)
	}
	page, err := s.client.Get("http://" + s.host + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Content-Security-Policy": "default-src 'none'; connect-src 'self'; frame-ancestors 'none'", "Content-Type": "text/html; charset=utf-8", "Access-Control-Allow-Origin": ""} {
		if got := page.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestChange: viewers are told of a change within a second, and the page is rendered once for all
// of them. While none is there nothing is looked at.
func TestChange(t *testing.T) {
	synctest.Test(t, testChange)
}

func testChange(t *testing.T) {
	p := newPipes()
	s := serveOn(t, p, &http.Transport{DialContext: p.dial})
	looks := s.looks.Load()
	time.Sleep(time.Hour)
	if s.looks.Load() != looks {
		t.Errorf("without a viewer it looked %d times", s.looks.Load()-looks)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble: what is not told must not be waited for
	defer cancel()
	var all []<-chan string
	for range 5 {
		lines, code := s.events(ctx)
		if code != 200 {
			t.Fatal(code)
		}
		all = append(all, lines)
	}
	time.Sleep(45*time.Second - 100*time.Millisecond) // the change is found in the moment of a sign of life
	synctest.Wait()
	for _, lines := range all { // that they were told before does not count
		for len(lines) > 0 {
			<-lines
		}
	}
	s.state.Store("two")
	changed := time.Now()
	for _, lines := range all {
		for line := range lines {
			if line == "data: more" {
				break
			}
		}
	}
	if took := time.Since(changed); took > time.Second {
		t.Errorf("viewers were told after %v", took)
	}
	draws := s.draws.Load()
	for range 5 {
		if body, _ := s.get("http://"+s.host+"/", nil); body != "<h1>two</h1>" {
			t.Error(body)
		}
	}
	if n := s.draws.Load() - draws; n != 1 {
		t.Errorf("it was rendered %d times", n)
	}
	s.state.Store("broken")
	if body, code := s.get("http://"+s.host+"/", nil); code != 500 || !strings.Contains(body, "it cannot be read") {
		t.Errorf("%d %s", code, body)
	}
	s.state.Store("three")
	if body, code := s.get("http://"+s.host+"/", nil); code != 200 || body != "<h1>three</h1>" {
		t.Errorf("%d %s", code, body)
	}
}

// TestSince: a viewer is sent the difference to the page that it has, and the whole page if that one is
// not kept.
func TestSince(t *testing.T) {
	s := serve(t)
	page := func(since string) string {
		t.Helper()
		body, code := s.get("http://"+s.host+"/"+since, nil)
		if code != 200 {
			t.Errorf("%s: %d", since, code)
		}
		return body
	}
	for i := range 5 {
		s.state.Store(fmt.Sprint(i))
		page("")
	}
	const last = "<h1>4</h1>" // the sixth page
	for since, want := range map[string]string{
		"": last, "?since=6": last + " to " + last, "?since=5": "<h1>3</h1> to " + last, "?since=3": "<h1>1</h1> to " + last,
		"?since=2": last, "?since=7": last, "?since=0": last, "?since=x": last,
	} {
		if got := page(since); got != want {
			t.Errorf("%s: %q, want %q", since, got, want)
		}
	}
	answer, err := s.client.Get("http://" + s.host + "/?since=5")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get("Kanban-Page"); got != "6" {
		t.Errorf("the number of the page is %q, want 6", got)
	}
}

// TestCrowd: two hundred clients at once, clients that say nothing and viewers that take nothing
// keep no other from the page.
func TestCrowd(t *testing.T) {
	s := serve(t)
	for range 40 { // they open a connection and say half a word
		c, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET / HT")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refused := 0
	for range 70 {
		if _, code := s.events(ctx); code == http.StatusServiceUnavailable {
			refused++
		}
	}
	if refused != 6 {
		t.Errorf("%d of 70 viewers were refused, want those behind the 64th", refused)
	}
	var wg sync.WaitGroup
	var served atomic.Int64
	for range 200 {
		wg.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.host+"/", nil)
			if err != nil {
				return
			}
			answer, err := s.client.Do(r)
			if err != nil {
				return
			}
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); err == nil && string(text) == "<h1>one</h1>" {
				served.Add(1)
			}
		})
	}
	wg.Wait()
	if served.Load() != 200 {
		t.Errorf("%d of 200 clients were served", served.Load())
	}
	cancel()
	pause := time.Millisecond
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(pause) {
		pause = min(pause*3/2, 20*time.Millisecond)
		again, stop := context.WithCancel(t.Context())
		_, code := s.events(again)
		stop()
		if code == 200 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("viewers that have left are counted still")
		}
	}
}

// TestListen: the page is served on the loopback only.
func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "8.8.8.8:80", "example.com:80", "127.0.0.1", "[::]:0"} {
		if _, err := view.Listen(address); !errors.As(err, new(*view.AddressError)) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := view.Listen(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
