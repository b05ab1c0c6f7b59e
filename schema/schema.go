// Package schema holds the JSON Schemas of everything that people and agents write for kanban-run, and says in plain words
// where a value breaks one.
package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	base   = "https://kanban-run.example/schema/"
	suffix = ".schema.json"
)

//go:embed *.schema.json
var files embed.FS

var schemas = lazy()

// document is a schema in both of its forms: compiled, to judge, and plain, to explain.
type document struct {
	compiled *jsonschema.Schema
	plain    any
}

// Compiling a schema costs as much as starting a process: each is compiled when it is first needed, and once.
func lazy() map[string]func() (*document, error) {
	m := map[string]func() (*document, error){}
	for _, name := range Names() {
		m[name] = sync.OnceValues(func() (*document, error) { return compile(name) })
	}
	return m
}

// UnknownError says that there is no schema of that name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no schema named %q", e.Name) }

// Hint lists the names that there are.
func (e *UnknownError) Hint() string { return "the schemas are " + strings.Join(Names(), ", ") }

// Names lists the schemas, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // an embedded folder is always readable
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	slices.Sort(names) // the folder's order is that of the file names: task-input before task
	return names
}

// Source returns the text of a schema, for people and editors. Errors: *UnknownError.
func Source(name string) ([]byte, error) {
	data, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, &UnknownError{name}
	}
	return data, nil
}

// Validate lists the places where v breaks the schema of that name, in a fixed order; an empty list means that v is valid. v is
// what a JSON or YAML decoder makes of a text: maps, slices, strings, numbers, booleans, dates and nil. Errors: *UnknownError,
// or a v that holds something else.
func Validate(name string, v any) ([]Violation, error) {
	load, ok := schemas[name]
	if !ok {
		return nil, &UnknownError{name}
	}
	doc, err := load()
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	value, err := plain(v, 0)
	if err != nil {
		return nil, fmt.Errorf("validate with schema %s: %w", name, err)
	}
	err = guarded(doc.compiled, value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return explain(doc.plain, value, invalid), nil
	}
	if err != nil {
		return nil, fmt.Errorf("validate with schema %s: %w", name, err)
	}
	return nil, nil
}

func compile(name string) (*document, error) {
	source, err := Source(name)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	// A $ref out of the binary is a mistake, whatever it names: nothing is fetched, not even a file.
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s is not embedded", url) }
	if err := c.AddResource(base+name+suffix, bytes.NewReader(source)); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(base + name + suffix)
	if err != nil {
		return nil, err
	}
	doc := &document{compiled: compiled}
	return doc, json.Unmarshal(source, &doc.plain)
}

// guarded turns a panic of the library into an error: it panics on values that it does not foresee.
func guarded(s *jsonschema.Schema, v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the value cannot be judged: %v", p)
		}
	}()
	return s.Validate(v)
}
