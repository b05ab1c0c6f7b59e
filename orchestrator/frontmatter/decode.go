package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/adrg/frontmatter"
	"gopkg.in/yaml.v3"
)

// decode checks the bytes, reads the YAML and inspects its tree. A panic of the library becomes a
// *Problem.
func (d *Document) decode(read func(root *yaml.Node) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Problem{File: d.File, Line: d.FirstLine, Text: fmt.Sprintf("the YAML reader gave up: %v", r)}
		}
	}()
	if err := d.guard(); err != nil {
		return err
	}
	d.index()
	var root yaml.Node
	if err := read(&root); err != nil {
		return err
	}
	return d.adopt(&root)
}

// extract decodes the block with the frontmatter library. It refuses a file in which the library
// and Split see different ends of the block, because other readers would then read a different
// header.
func (d *Document) extract(root *yaml.Node) error {
	text := bytes.TrimPrefix(d.Source, []byte(bom))
	format := frontmatter.NewFormat("---", "---", func([]byte, any) error { return d.unmarshal(root) })
	rest, err := frontmatter.Parse(bytes.NewReader(text), root, format)
	if err != nil {
		return err
	}
	if len(rest) != len(d.Source)-d.Body {
		return &Problem{File: d.File, Line: d.FirstLine, Text: "the frontmatter has no clear end",
			Fix: "end it with a line of ---"}
	}
	return nil
}

func (d *Document) plain(root *yaml.Node) error {
	if err := d.unmarshal(root); err != nil {
		return err
	}
	if root.Kind == 0 || root.Content[0].Tag == "!!null" {
		return &Problem{File: d.File, Text: ErrEmpty.Error(), Fix: "write key: value lines", Err: ErrEmpty}
	}
	return nil
}

// unmarshal reads exactly one YAML document. root stays empty if the text has no document.
func (d *Document) unmarshal(root *yaml.Node) error {
	decoder := yaml.NewDecoder(bytes.NewReader(d.YAML))
	err := decoder.Decode(root)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return d.explain(err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return d.Problem(d.secondDocument(&second), "a second YAML document begins here",
			"keep one document in the file")
	}
	return nil
}

// secondDocument returns a node near the second document. The second document may be unreadable.
func (d *Document) secondDocument(second *yaml.Node) *yaml.Node {
	if second.Line > 0 {
		return second
	}
	return &yaml.Node{Line: len(d.lines), Column: 1}
}

// adopt checks the decoded document and makes it the Root.
func (d *Document) adopt(document *yaml.Node) error {
	if document.Kind == 0 {
		d.Root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
		return nil
	}
	root := document
	if document.Kind == yaml.DocumentNode {
		root = document.Content[0]
	}
	if err := d.inspectNode(root); err != nil {
		return err
	}
	if root.Kind != yaml.MappingNode {
		return d.Problem(root, "there must be key: value lines here", "write one field a line, for example name: value")
	}
	if err := d.inspect(root, 1); err != nil {
		return err
	}
	d.Root = root
	return nil
}
