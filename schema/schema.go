// Package schema holds the JSON Schemas of all that people and agents write for kanban-run. It
// explains in plain words where a value breaks a schema.
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

var schemas = lazySchemas()

// document is a schema in two forms: compiled to validate, decoded to explain violations.
type document struct {
	compiled *jsonschema.Schema
	plain    any
}

// lazySchemas returns a function for each schema. The function compiles its schema once, at the
// first call, because compiling a schema takes as long as starting a process.
func lazySchemas() map[string]func() (*document, error) {
	m := map[string]func() (*document, error){}
	for _, name := range Names() {
		m[name] = sync.OnceValues(func() (*document, error) { return compile(name) })
	}
	return m
}

// UnknownError reports that no schema has this name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no schema named %q", e.Name) }

// Hint lists the known names.
func (e *UnknownError) Hint() string { return "the schemas are " + strings.Join(Names(), ", ") }

// Names returns the names of the schemas, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // an embedded folder is always readable
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	slices.Sort(names) // ReadDir sorts by file name, which puts task-input before task
	return names
}

// Source returns the text of a schema. Errors: *UnknownError.
func Source(name string) ([]byte, error) {
	data, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, &UnknownError{name}
	}
	return data, nil
}

// Validate returns the places where v breaks the named schema, in a fixed order. It returns nil if
// v is valid. v is decoded JSON or YAML: maps, slices, strings, numbers, booleans, dates and nil.
// Errors: *UnknownError, or another error if v has other types, is nested too deeply, or has a
// number out of range.
func Validate(name string, v any) ([]Violation, error) {
	load, ok := schemas[name]
	if !ok {
		return nil, &UnknownError{name}
	}
	doc, err := load()
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	value, err := makePlain(v, 0)
	if err != nil {
		return nil, fmt.Errorf("validate with schema %s: %w", name, err)
	}
	err = validateSafely(doc.compiled, value)
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
	// A $ref to a schema outside of the binary is an error. Nothing is fetched, not even a file.
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

// validateSafely validates v. It turns a panic of the library, which some unforeseen values cause,
// into an error.
func validateSafely(s *jsonschema.Schema, v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the value cannot be judged: %v", p)
		}
	}()
	return s.Validate(v)
}
