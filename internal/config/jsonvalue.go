package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"backstop/internal/config/tree"
)

// jsonTaker reads a JSON value that is written as YAML, or as a text that is
// JSON itself.
type jsonTaker struct{ into *field[[]byte] }

func (t jsonTaker) take(r *reader, n *tree.Node) {
	if n.Kind == tree.Scalar && n.Quoted {
		text, ok := r.text(n, "a JSON value")
		if !ok {
			return
		}
		if trimmed := strings.TrimSpace(text); json.Valid([]byte(trimmed)) {
			*t.into = field[[]byte]{[]byte(trimmed), n}
			return
		}
		r.problem(n, r.key()+": the text is not valid JSON", `write it as a mapping, e.g. json: {"fallback": true}`)
		return
	}
	if data, ok := r.json(n); ok {
		*t.into = field[[]byte]{data, n}
	}
}

func (jsonTaker) shape() shape { return shape{} }

// anyValue stands for a value of any shape in the JSON Schema.
type anyValue struct{}

func (anyValue) take(*reader, *tree.Node) {}
func (anyValue) shape() shape             { return shape{} }

// jsonNumber is the grammar of RFC 8259, so that 007 or 1_000 stay texts.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// json writes a node as JSON with the keys in file order.
func (r *reader) json(n *tree.Node) ([]byte, bool) {
	var b bytes.Buffer
	ok := r.writeJSON(&b, n)
	return b.Bytes(), ok
}

func (r *reader) writeJSON(b *bytes.Buffer, n *tree.Node) bool {
	switch n.Kind {
	case tree.Null:
		b.WriteString("null")
	case tree.Scalar:
		text, ok := r.text(n, "a value")
		if !ok {
			return false
		}
		if !n.Quoted && (jsonNumber.MatchString(text) || text == "true" || text == "false") {
			b.WriteString(text)
		} else {
			b.Write(quote(text))
		}
	case tree.Sequence:
		return r.writeArray(b, n)
	case tree.Mapping:
		return r.writeObject(b, n)
	}
	return true
}

func (r *reader) writeArray(b *bytes.Buffer, n *tree.Node) bool {
	b.WriteByte('[')
	for i, item := range n.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		if !r.writeJSON(b, item) {
			return false
		}
	}
	b.WriteByte(']')
	return true
}

func (r *reader) writeObject(b *bytes.Buffer, n *tree.Node) bool {
	b.WriteByte('{')
	seen := map[string]*tree.Node{}
	for _, p := range n.Pairs {
		if first, ok := seen[p.Key.Text]; ok {
			r.double(first, p)
			continue
		}
		if len(seen) > 0 {
			b.WriteByte(',')
		}
		seen[p.Key.Text] = p.Key
		b.Write(quote(p.Key.Text))
		b.WriteByte(':')
		if !r.writeJSON(b, p.Value) {
			return false
		}
	}
	b.WriteByte('}')
	return true
}

// quote writes a text as a JSON string without HTML escapes.
func quote(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return []byte(fmt.Sprintf("%q", text))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// decodeJSON keeps numbers as they were written.
func decodeJSON(data []byte) any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}
