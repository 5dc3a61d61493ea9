package jsonfix

import (
	"strconv"
	"strings"
)

// node is a value of a valid document, by its offsets: numbers and strings
// keep their text. Nodes are not changed once built; a re-spelled value is
// another node that shares what stayed the same.
type node struct {
	kind   byte // { [ " 0 t n, for false too: t
	src    []byte
	start  int
	end    int
	key    [2]int // of a member: offsets of its key, with quotes, in the parent's src
	colon  [2]int // the colon and the blanks around it, in the parent's src
	lead   [2]int // blanks in front of the key or item, in the parent's src
	kids   []*node
	lit    []byte // the text, if it is not src[start:end]
	keyLit []byte
	dirty  bool // something inside changed
	cut    bool // on the way to the cut
}

type treeParser struct {
	src []byte
	i   int
}

// parseTree reads a valid document.
func parseTree(src []byte) (*node, error) {
	if !Valid(src) {
		return nil, &Refusal{Reason: NotJSON}
	}
	p := &treeParser{src: src}
	p.i = skipBlanks(src, 0)
	return p.value(), nil
}

// value reads the value at p.i. Its depth is bounded, for the document is valid.
func (p *treeParser) value() *node {
	n := &node{src: p.src, start: p.i, kind: p.src[p.i]}
	switch c := p.src[p.i]; {
	case c == '{' || c == '[':
		p.members(n, c == '{')
	case c == '"':
		p.i = stringEnd(p.src, p.i+1)
	case c == 't' || c == 'n':
		p.i += 4
	case c == 'f':
		n.kind = 't'
		p.i += 5
	default:
		n.kind = '0'
		p.i = numberEnd(p.src, p.i)
	}
	n.end = p.i
	return n
}

func (p *treeParser) members(n *node, object bool) {
	p.i++
	lead := p.i
	p.i = skipBlanks(p.src, p.i)
	for p.src[p.i] != closerOf(object) {
		if p.src[p.i] == ',' {
			p.i++
			lead = p.i
			p.i = skipBlanks(p.src, p.i)
			continue
		}
		at := p.i
		var key, colon [2]int
		if object {
			p.i = stringEnd(p.src, p.i+1)
			key = [2]int{at, p.i}
			p.i = skipBlanks(p.src, skipBlanks(p.src, p.i)+1)
			colon = [2]int{key[1], p.i}
		}
		kid := p.value()
		kid.key, kid.colon, kid.lead = key, colon, [2]int{lead, at}
		n.kids = append(n.kids, kid)
		p.i = skipBlanks(p.src, p.i)
	}
	p.i++
}

// text is the document of a root.
func (n *node) text() []byte {
	if !n.dirty && n.lit == nil {
		return n.src[n.start:n.end]
	}
	return n.write(make([]byte, 0, n.end-n.start+16))
}

func (n *node) write(to []byte) []byte {
	switch {
	case n.lit != nil:
		return append(to, n.lit...)
	case !n.dirty:
		return append(to, n.src[n.start:n.end]...)
	}
	to = append(to, n.kind)
	for i, kid := range n.kids {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, n.src[kid.lead[0]:kid.lead[1]]...)
		if n.kind == '{' {
			if kid.keyLit != nil {
				to = append(to, kid.keyLit...)
			} else {
				to = append(to, n.src[kid.key[0]:kid.key[1]]...)
			}
			to = append(to, n.src[kid.colon[0]:kid.colon[1]]...)
		}
		to = kid.write(to)
	}
	return append(to, closerOf(n.kind == '{'))
}

// name is the key of a member of n.
func (n *node) name(kid *node) string {
	if kid.keyLit != nil {
		return unquote(kid.keyLit)
	}
	return unquote(n.src[kid.key[0]:kid.key[1]])
}

// with gives a copy of a container with other members.
func (n *node) with(kids []*node) *node {
	c := *n
	c.kids, c.dirty = kids, true
	return &c
}

// spelled gives a copy with another text.
func (n *node) spelled(text []byte) *node {
	c := *n
	c.lit, c.dirty, c.kids = text, true, nil
	switch {
	case text[0] == 'f':
		c.kind = 't'
	case text[0] == '-' || isDigit(text[0]):
		c.kind = '0'
	default:
		c.kind = text[0]
	}
	return &c
}

// placed gives a copy that stands where another node stood.
func (n *node) placed(at *node) *node {
	c := *n
	c.key, c.keyLit, c.colon, c.lead, c.cut = at.key, at.keyLit, at.colon, at.lead, at.cut
	return &c
}

// raw is the text of a scalar.
func (n *node) raw() []byte {
	if n.lit != nil {
		return n.lit
	}
	return n.src[n.start:n.end]
}

// markCut marks the nodes on the way to a JSON Pointer.
func (n *node) markCut(pointer string) {
	n.cut = true
	if pointer == "" {
		return
	}
	step, rest, more := strings.Cut(pointer[1:], "/")
	if more {
		rest = "/" + rest
	}
	if n.kind == '[' {
		if i, err := strconv.Atoi(step); err == nil && i < len(n.kids) {
			n.kids[i].markCut(rest)
		}
		return
	}
	step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	for i := len(n.kids) - 1; i >= 0; i-- {
		if n.name(n.kids[i]) == step {
			n.kids[i].markCut(rest)
			return
		}
	}
}
