package main

import (
	"bytes"
	"os"
	"testing"
)

// TestZonesAreInTheProgram: on a machine without files of zones, "resets 5:29pm (America/New_York)"
// is understood all the same. A test cannot take the files away from the machine, so it looks for
// the zones in the program. Package time alone knows the beginning of such a file, and has none.
func TestZonesAreInTheProgram(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile(built(t, buildPlain))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(program, []byte("TZif2")); n < 400 {
		t.Errorf("the program holds %d zones, want all", n)
	}
}
