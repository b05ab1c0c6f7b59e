package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFindTests: the tests of a project are those that its own files name, if their program is installed.
func TestFindTests(t *testing.T) {
	bin := t.TempDir()
	for _, program := range []string{"go", "npm", "cargo", "python3", "make"} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	for name, tt := range map[string]struct {
		files         map[string]string
		want, because string
	}{
		"nothing":                {nil, "", ""},
		"go":                     {map[string]string{"go.mod": "module x", "Makefile": "test:\n"}, "go test ./...", "go.mod"},
		"npm":                    {map[string]string{"package.json": `{"scripts":{"test":"x"}}`}, "npm test", "package.json"},
		"npm without tests":      {map[string]string{"package.json": `{"scripts":{"test":"echo no test specified"}}`}, "", ""},
		"cargo":                  {map[string]string{"Cargo.toml": "[package]"}, "cargo test", "Cargo.toml"},
		"pytest":                 {map[string]string{"pyproject.toml": "[tool.pytest]", "test_x.py": "import unittest"}, "python3 -m pytest", "pyproject.toml"},
		"make":                   {map[string]string{"Makefile": "all: x\n\ntest: all\n\t./t\n", "test_x.py": "import unittest"}, "make test", "Makefile"},
		"the first makefile":     {map[string]string{"Makefile": "test:\n", "GNUmakefile": "all:\n"}, "", ""},
		"a variable":             {map[string]string{"Makefile": "test := x\ntests: x\n"}, "", ""},
		"unittest":               {map[string]string{"test_x.py": "import unittest"}, "python3 -m unittest", "test_x.py"},
		"unittest in its folder": {map[string]string{"tests/test_x.py": "from unittest import TestCase"}, "python3 -m unittest discover -s tests", "tests/test_x.py"},
		"no unittest":            {map[string]string{"test_x.py": "print(1)"}, "", ""},
	} {
		dir := t.TempDir()
		for file, text := range tt.files {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, because := findTests(dir); got != tt.want || because != tt.because {
			t.Errorf("%s: %q because of %q, want %q because of %q", name, got, because, tt.want, tt.because)
		}
	}
}
