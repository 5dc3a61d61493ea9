package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"backstop/internal/config/tree"
)

// Bounds of a JSON file; those of YAML are the tree's.
const (
	deepest   = 32
	mostNodes = 100_000
)

// jsonTree reads JSON into the nodes that YAML is read into, so that both
// kinds of file are translated by the same code.
func jsonTree(data []byte) (*tree.Node, error) {
	if len(data) > tree.MaxSize {
		return nil, fmt.Errorf("is larger than %d KiB: a configuration is far smaller", tree.MaxSize>>10)
	}
	r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))), data: data}
	r.dec.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, r.plainly(err)
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: something follows the JSON", r.line())
	}
	return n, nil
}

type jsonReader struct {
	dec   *json.Decoder
	data  []byte
	nodes int
}

func (r *jsonReader) line() int {
	at := min(int(r.dec.InputOffset()), len(r.data))
	return 1 + bytes.Count(r.data[:at], []byte("\n"))
}

var errTooDeep = errors.New("nests too deeply or is too long")

// plainly keeps the place of a fault, not its words: they quote the file.
func (r *jsonReader) plainly(err error) error {
	if errors.Is(err, errTooDeep) {
		return err
	}
	return fmt.Errorf("line %d: not valid JSON", r.line())
}

func (r *jsonReader) value(depth int) (*tree.Node, error) {
	t, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	if r.nodes++; r.nodes > mostNodes || depth > deepest {
		return nil, errTooDeep
	}
	n := &tree.Node{Line: r.line(), Column: 1}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			n.Kind = tree.Mapping
			return n, r.members(n, depth)
		}
		n.Kind = tree.Sequence
		return n, r.items(n, depth)
	case string:
		n.Kind, n.Text, n.Quoted = tree.Scalar, t, true
	case json.Number:
		n.Kind, n.Text = tree.Scalar, t.String()
	case bool:
		n.Kind, n.Text = tree.Scalar, fmt.Sprint(t)
	}
	return n, nil
}

func (r *jsonReader) members(n *tree.Node, depth int) error {
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		key := &tree.Node{Kind: tree.Scalar, Text: name, Quoted: true, Line: r.line(), Column: 1}
		v, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.Pairs = append(n.Pairs, tree.Pair{Key: key, Value: v})
	}
	_, err := r.dec.Token()
	return err
}

func (r *jsonReader) items(n *tree.Node, depth int) error {
	for r.dec.More() {
		v, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, v)
	}
	_, err := r.dec.Token()
	return err
}

// jsonText is a text as a JSON string.
func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always can be
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// bareJSON reports whether an unquoted scalar is a JSON number or word.
func bareJSON(s string) bool {
	return s == "true" || s == "false" || s == "null" || len(s) > 0 && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}
