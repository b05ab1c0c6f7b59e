package config

import "testing"

func TestSize(t *testing.T) {
	good := map[string]int64{"0": 0, "512": 512, "3k": 3 << 10, "3K": 3 << 10, "200M": 200 << 20, "200 MB": 200 << 20, "1GiB": 1 << 30, "999999999G": 999999999 << 30}
	for text, want := range good {
		if got, err := size(text); got != want || err != nil {
			t.Errorf("size(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.5G", "1T", "G", "1 G x", "9999999999G", "0x10"} {
		if got, err := size(text); err == nil {
			t.Errorf("size(%q) = %d, want an error", text, got)
		}
	}
}
