package frontmatter

import "testing"

func TestOneEditApart(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"tools", "tools", true}, {"tool", "tools", true}, {"toolss", "tools", true}, {"tolos", "tools", true},
		{"toils", "tools", true},
		{"", "a", true}, {"ab", "", false}, {"abcd", "dcba", false}, {"manager", "manger", true},
		{"role", "rule", true}, {"name", "mine", false},
	}
	for _, tt := range tests {
		if got := OneEditApart(tt.a, tt.b); got != tt.want {
			t.Errorf("OneEditApart(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
