package tree

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// guard looks at the tokens before the parser does. The parser recurses with
// the depth of the file and takes quadratic time in the keys of a mapping, so
// both are bounded here.
type guard struct {
	open       []frame
	prefixes   int // anchors and tags in a row
	flow       int // open brackets
	complaint  string
	at         *token.Token
	lastBefore *token.Token
}

// frame is one mapping or list that is open at a token.
type frame struct {
	column int // of a block, 0 = in brackets
	keys   int
}

// check returns the token that breaks a bound and why, nil if none does.
func (g *guard) check(tokens token.Tokens) (*token.Token, string) {
	if len(tokens) > maxTokens {
		return tokens[maxTokens], "the file is too long: split it or remove what is not needed"
	}
	for _, tk := range tokens {
		g.token(tk)
		if g.complaint != "" {
			return g.at, g.complaint
		}
		g.lastBefore = tk
	}
	return nil, ""
}

func (g *guard) token(tk *token.Token) {
	if tk.Type == token.AnchorType || tk.Type == token.TagType || tk.Type == token.MappingKeyType {
		if g.prefixes++; g.prefixes > 8 {
			g.complain(tk, "too many anchors, tags or ? in a row")
		}
	} else if tk.Type != token.StringType {
		g.prefixes = 0
	}
	switch tk.Type {
	case token.SequenceStartType, token.MappingStartType:
		g.push(tk, 0)
		g.flow++
	case token.SequenceEndType, token.MappingEndType:
		g.closeBracket()
	case token.SequenceEntryType, token.MappingKeyType:
		if g.flow == 0 {
			g.block(tk, tk.Position.Column, false)
		}
	case token.MappingValueType:
		g.key(tk)
	}
}

// key counts a key of the mapping that is open.
func (g *guard) key(tk *token.Token) {
	if g.flow == 0 {
		column := tk.Position.Column
		if g.lastBefore != nil && g.lastBefore.Position.Line == tk.Position.Line {
			column = g.lastBefore.Position.Column
		}
		g.block(tk, column, true)
		return
	}
	if top := len(g.open) - 1; top >= 0 {
		g.count(tk, &g.open[top])
	}
}

// block enters the block that starts at a column and leaves the deeper ones.
func (g *guard) block(tk *token.Token, column int, key bool) {
	for len(g.open) > 0 && g.open[len(g.open)-1].column > column {
		g.open = g.open[:len(g.open)-1]
	}
	if len(g.open) == 0 || g.open[len(g.open)-1].column < column {
		g.push(tk, column)
	}
	if key {
		g.count(tk, &g.open[len(g.open)-1])
	}
}

func (g *guard) push(tk *token.Token, column int) {
	g.open = append(g.open, frame{column: column})
	if len(g.open) > maxDepth {
		g.complain(tk, fmt.Sprintf("nested too deeply: at most %d levels", maxDepth))
	}
}

func (g *guard) count(tk *token.Token, f *frame) {
	if f.keys++; f.keys > maxKeys {
		g.complain(tk, fmt.Sprintf("too many keys in one mapping: at most %d", maxKeys))
	}
}

func (g *guard) closeBracket() {
	for len(g.open) > 0 && g.flow > 0 {
		top := g.open[len(g.open)-1]
		g.open = g.open[:len(g.open)-1]
		if top.column == 0 {
			g.flow--
			return
		}
	}
}

func (g *guard) complain(tk *token.Token, text string) {
	if g.complaint == "" {
		g.at, g.complaint = tk, text
	}
}
