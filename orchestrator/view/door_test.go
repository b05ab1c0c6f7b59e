package view_test

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"
)

// TestHalfRequests: 400 connections that send half a request keep no browser waiting, and a page that is open already
// goes on to hear of changes.
func TestHalfRequests(t *testing.T) {
	s := serve(t)
	s.get(s.url, nil) // for the cookie
	events, err := s.client.Get("http://" + s.host + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	lines := bufio.NewScanner(events.Body)
	heard := func() bool {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: ") {
				return true
			}
		}
		return false
	}
	if !heard() {
		t.Fatal("the page hears nothing")
	}
	for range 400 {
		conn, err := net.Dial("tcp", s.host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("GET / HT")); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if body, code := s.get("http://"+s.host+"/", nil); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	if took := time.Since(began); took > 5*time.Second { // half requests are closed after ten
		t.Errorf("it took %v", took)
	}
	s.state.Store("another")
	if !heard() {
		t.Error("the page that was open hears of no change")
	}
}
