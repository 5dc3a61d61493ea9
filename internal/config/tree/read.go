package tree

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Read turns the bytes of a file into nodes. The source is never nil: it
// renders problems of the nodes later on. An empty file is a Null node. Double
// keys are left in the tree for whoever knows the file's words.
func Read(name string, data []byte) (*Node, *Source, error) {
	src := &Source{Name: name}
	if len(data) > MaxSize {
		return nil, src, src.Nowhere(fmt.Sprintf("is larger than %d KiB", MaxSize>>10), "a configuration is far smaller: is this the right file?")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	src.lines = strings.Split(string(data), "\n")
	if p := src.unreadable(data); p != nil {
		return nil, src, *p
	}
	root, err := parse(src, string(data))
	return root, src, err
}

// unreadable finds the first byte that no text file has.
func (s *Source) unreadable(data []byte) *Problem {
	for i, line := range s.lines {
		column := 0
		for j, r := range line {
			column++
			_, width := utf8.DecodeRuneInString(line[j:])
			switch {
			case r == utf8.RuneError && width <= 1:
				p := s.At(i+1, column, "is not UTF-8 text", "save the file as UTF-8")
				return &p
			case r < ' ' && r != '\t', r == 0x7f:
				p := s.At(i+1, column, fmt.Sprintf("control character %#02x in the file", r), "remove it")
				return &p
			}
		}
	}
	return nil
}

func parse(src *Source, text string) (root *Node, err error) {
	// The parser is fuzzed, but it is not ours: a panic of it is a broken file.
	defer func() {
		if recover() != nil {
			root, err = nil, src.Nowhere("cannot be read as YAML", "check brackets, quotes and indentation")
		}
	}()
	tokens := lexer.Tokenize(text)
	var g guard
	if tk, why := g.check(tokens); tk != nil {
		return nil, src.At(tk.Position.Line, tk.Position.Column, why, "")
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, src.syntax(err)
	}
	b := &builder{src: src, anchors: map[string]*Node{}}
	body, err := b.document(file)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return &Node{Line: 1, Column: 1}, nil
	}
	return b.node(body)
}

// syntax renders a parser error. The line may hold a credential that nobody
// has recognised yet, so it is masked by looks.
func (s *Source) syntax(err error) Problem {
	s.broken = true
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		pos := y.GetToken().Position
		return s.At(pos.Line, pos.Column, "not valid YAML: "+plainly(y.GetMessage()), "")
	}
	return s.Nowhere("not valid YAML", "check brackets, quotes and indentation")
}

// quotedText is more than a bracket or a blank in quotes.
var quotedText = regexp.MustCompile("\"[^\"]{4,}\"|`[^`]{4,}`|'[^' ]{4,}'")

// plainly drops what parsers quote, which may be a credential.
func plainly(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	return maskByLooks(quotedText.ReplaceAllString(message, "…"))
}

// builder copies the parser's nodes into ours and resolves aliases.
type builder struct {
	src     *Source
	anchors map[string]*Node
}

func (b *builder) document(file *ast.File) (ast.Node, error) {
	var body ast.Node
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		if _, directive := doc.Body.(*ast.DirectiveNode); directive {
			continue
		}
		if body != nil {
			return nil, b.wrong(doc.Body, "a second document", "one file holds one configuration: remove the --- line")
		}
		body = doc.Body
	}
	return body, nil
}

func (b *builder) wrong(n ast.Node, message, hint string) Problem {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key // the parser's token of a mapping is its colon
	}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return b.src.At(tk.Position.Line, tk.Position.Column, message, hint)
	}
	return b.src.Nowhere(message, hint)
}

func (b *builder) node(n ast.Node) (*Node, error) {
	out, err := b.build(n)
	if err != nil {
		return nil, err
	}
	if !out.weigh() {
		return nil, b.wrong(n, "aliases or nesting make the file too large", "write the values out")
	}
	return out, nil
}

func (b *builder) build(n ast.Node) (*Node, error) {
	switch n := n.(type) {
	case nil:
		return &Node{Line: 1, Column: 1}, nil
	case *ast.NullNode:
		return b.at(n.Token, Node{}), nil
	case *ast.MappingNode:
		return b.mapping(n.Start, n.Values)
	case *ast.MappingValueNode:
		return b.mapping(n.Key.GetToken(), []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		return b.sequence(n)
	case *ast.AnchorNode:
		return b.anchor(n)
	case *ast.AliasNode:
		return b.alias(n)
	case *ast.TagNode:
		return b.tag(n)
	case *ast.LiteralNode:
		return b.at(n.Start, Node{Kind: Scalar, Text: n.Value.Value, Quoted: true}), nil
	case *ast.StringNode:
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		return b.at(n.Token, Node{Kind: Scalar, Text: n.Value, Quoted: quoted}), nil
	case *ast.MappingKeyNode:
		return b.build(n.Value)
	case ast.ScalarNode:
		return b.at(n.GetToken(), Node{Kind: Scalar, Text: strings.TrimSpace(n.GetToken().Value)}), nil
	}
	return nil, b.wrong(n, "this YAML feature is not supported here", "use plain mappings, lists and values")
}

func (b *builder) at(tk *token.Token, n Node) *Node {
	n.Line, n.Column = 1, 1
	if tk != nil && tk.Position != nil {
		n.Line, n.Column = tk.Position.Line, tk.Position.Column
	}
	return &n
}

func (b *builder) sequence(n *ast.SequenceNode) (*Node, error) {
	out := b.at(n.Start, Node{Kind: Sequence})
	for _, v := range n.Values {
		item, err := b.node(v)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

func (b *builder) mapping(start *token.Token, values []*ast.MappingValueNode) (*Node, error) {
	out := b.at(start, Node{Kind: Mapping})
	var merged []Pair // after the mapping's own keys, which win over them
	for i, v := range values {
		value, err := b.node(v.Value)
		if err != nil {
			return nil, err
		}
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			if merged, err = b.merge(merged, v, value); err != nil {
				return nil, err
			}
			continue
		}
		key, err := b.key(v.Key)
		if err != nil {
			return nil, err
		}
		if i == 0 && start != nil && start.Type != token.MappingStartType {
			out.Line, out.Column = key.Line, key.Column
		}
		out.Pairs = append(out.Pairs, Pair{Key: key, Value: value})
	}
	out.Pairs = append(out.Pairs, merged...)
	return out, nil
}

func (b *builder) key(n ast.MapKeyNode) (*Node, error) {
	key, err := b.node(n)
	if err != nil {
		return nil, err
	}
	if key.Kind != Scalar {
		return nil, b.wrong(n, "a key must be one word", "")
	}
	return key, nil
}

// merge adds the pairs of a << value.
func (b *builder) merge(out []Pair, v *ast.MappingValueNode, value *Node) ([]Pair, error) {
	from := []*Node{value}
	if value.Kind == Sequence {
		from = value.Items
	}
	for _, m := range from {
		if m.Kind != Mapping {
			return nil, b.wrong(v.Key, "<< takes a mapping", "write <<: *name")
		}
		for _, p := range m.Pairs {
			out = append(out, Pair{Key: p.Key, Value: p.Value, Merged: true})
		}
		if len(out) > maxKeys {
			return nil, b.wrong(v.Key, "<< makes the mapping too large", "write the values out")
		}
	}
	return out, nil
}

func (b *builder) anchor(n *ast.AnchorNode) (*Node, error) {
	name := n.Name.GetToken().Value
	delete(b.anchors, name) // not there yet for aliases inside of it
	value, err := b.node(n.Value)
	if err != nil {
		return nil, err
	}
	b.anchors[name] = value
	return value, nil
}

func (b *builder) alias(n *ast.AliasNode) (*Node, error) {
	if n.Value != nil {
		if value, ok := b.anchors[n.Value.GetToken().Value]; ok {
			return value, nil
		}
	}
	return nil, b.wrong(n, "no anchor with this name before it", "define it with &name first")
}

func (b *builder) tag(n *ast.TagNode) (*Node, error) {
	switch n.Start.Value {
	case "!!str":
		value, err := b.node(n.Value)
		if err == nil && value.Kind == Scalar {
			text := *value
			text.Quoted = true
			return &text, nil
		}
		return value, err
	case "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq":
		return b.node(n.Value)
	}
	return nil, b.wrong(n, "tags are not supported", "remove the tag")
}
