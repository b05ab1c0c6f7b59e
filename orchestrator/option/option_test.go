package option

import "testing"

func TestSize(t *testing.T) {
	good := map[string]int64{"0": 0, "512": 512, "3k": 3 << 10, "3K": 3 << 10, "200M": 200 << 20, "200 MB": 200 << 20,
		"1GiB": 1 << 30, "999999999G": 999999999 << 30}
	for text, want := range good {
		if got, err := parseSize(text); got != want || err != nil {
			t.Errorf("size(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.5G", "1T", "G", "1 G x", "9999999999G", "0x10"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("size(%q) = %d, want an error", text, got)
		}
	}
}

func TestDollars(t *testing.T) {
	good := map[string]int64{"0": 0, "2.50": 2_500_000, "$2.50": 2_500_000, "2.5": 2_500_000, "0.000001": 1,
		"7": 7_000_000, "0.29": 290_000, "9999999.999999": 9_999_999_999_999}
	for text, want := range good {
		if got, err := parseDollars(text); got != want || err != nil {
			t.Errorf("dollars(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "$", "-1", "1e3", "1,50", ".50", "2.", "0.0000001", "10000000", "2.50 USD",
		"€2", "NaN"} {
		if got, err := parseDollars(text); err == nil {
			t.Errorf("dollars(%q) = %d, want an error", text, got)
		}
	}
}
