package tree

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Source is the text of a file, to show the line that a problem is about. It
// knows which values are credentials and masks them.
type Source struct {
	Name   string
	lines  []string
	hidden map[int][]*Node // by line
	blocks []*Node         // hidden ones that go on below their line
	known  map[*Node]bool
	broken bool // not parsed: credentials are known by their looks only
}

// At makes a problem at a place; Source is filled in by [Source.Finish].
func (s *Source) At(line, column int, message, hint string) Problem {
	p := Problem{File: s.Name, Line: line, Column: max(column, 1), Message: message, Hint: hint}
	if s.broken {
		p.Source = s.line(line)
	}
	return p
}

// Nowhere makes a problem of the file as a whole.
func (s *Source) Nowhere(message, hint string) Problem {
	return Problem{File: s.Name, Message: message, Hint: hint}
}

// On makes a problem of a node. A node without a line stands for a flag or a
// variable, whose name is its text.
func (s *Source) On(n *Node, message, hint string) Problem {
	switch {
	case n == nil:
		return s.Nowhere(message, hint)
	case n.Line == 0 && n.Text != "":
		return s.Nowhere(n.Text+": "+message, hint)
	case n.Line == 0:
		return s.Nowhere(message, hint)
	}
	return s.At(n.Line, n.Column, message, hint)
}

// Hide masks a scalar wherever a problem shows its line.
func (s *Source) Hide(n *Node) {
	if n == nil || n.Kind != Scalar || n.Line == 0 || n.Text == "" || s.known[n] {
		return
	}
	if s.known == nil {
		s.known, s.hidden = map[*Node]bool{}, map[int][]*Node{}
	}
	s.known[n] = true
	s.hidden[n.Line] = append(s.hidden[n.Line], n)
	if strings.Contains(n.Text, "\n") && len(s.blocks) < 1000 {
		s.blocks = append(s.blocks, n)
	}
}

// HideAll masks every scalar below a node, for values whose key is not known.
func (s *Source) HideAll(n *Node) { n.Each(s.Hide) }

// Finish adds the source lines. It is called when all credentials are hidden.
func (s *Source) Finish(ps Problems) Problems {
	for i := range ps {
		if ps[i].File == s.Name && ps[i].Source == "" && ps[i].Line > 0 {
			ps[i].Source = s.line(ps[i].Line)
		}
	}
	return ps
}

// Line returns a line of the file as it may be shown, "" if there is none.
func (s *Source) line(number int) string {
	if number < 1 || number > len(s.lines) {
		return ""
	}
	line := s.lines[number-1]
	if s.broken {
		return maskByLooks(line)
	}
	for _, n := range s.hidden[number] {
		line = maskNode(line, n)
	}
	for _, n := range s.blocks {
		if number <= n.Line {
			continue
		}
		for part := range strings.SplitSeq(n.Text, "\n") {
			if part = strings.TrimSpace(part); len(part) >= 4 {
				line = strings.ReplaceAll(line, part, stars(part))
			}
		}
	}
	return line
}

// maskNode replaces the text of a node on its own line. Text with escapes is
// not found as it stands: then the rest of the line goes.
func maskNode(line string, n *Node) string {
	runes := []rune(line)
	from := min(n.Column-1, len(runes))
	head, tail := string(runes[:from]), string(runes[from:])
	if i := strings.Index(tail, n.Text); i >= 0 {
		return head + tail[:i] + stars(n.Text) + tail[i+len(n.Text):]
	}
	return head + stars(tail)
}

func stars(text string) string { return strings.Repeat("*", utf8.RuneCountInString(text)) }

// looksSecret matches words that are credentials in all likelihood, and
// whatever follows a key that names one.
var looksSecret = regexp.MustCompile(`(?i)(?:keys?|token|secret|password|authorization)["']?\s*:\s*(.+)|([A-Za-z0-9_\-.+/=]{20,})|(sk-[A-Za-z0-9_\-]+)`)

func maskByLooks(line string) string {
	for _, m := range looksSecret.FindAllStringSubmatchIndex(line, -1) {
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] < 0 {
				continue
			}
			from := m[g]
			if part := line[from:m[g+1]]; strings.HasPrefix(strings.TrimLeft(part, `"'`), "${") {
				from += strings.Index(part+"}", "}") // a reference may be seen, what follows it not
			}
			if from < m[g+1] {
				line = line[:from] + strings.Repeat("*", m[g+1]-from) + line[m[g+1]:]
			}
		}
	}
	return line
}

// Column finds where a part of a node's text stands on the node's first line,
// so that a caret points at it. It falls back to the node's own column.
func (s *Source) Column(n *Node, part string) int {
	if n.Line < 1 || n.Line > len(s.lines) {
		return n.Column
	}
	runes := []rune(s.lines[n.Line-1])
	from := min(max(n.Column-1, 0), len(runes))
	if i := strings.Index(string(runes[from:]), part); i >= 0 {
		return n.Column + utf8.RuneCountInString(string(runes[from:])[:i])
	}
	return n.Column
}
