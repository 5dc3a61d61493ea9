package tree

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a configuration, where it stands
// and what to do about it. Line and Column count from 1; Line 0 means that
// the problem has no place in a file (flags, environment).
type Problem struct {
	File    string
	Line    int
	Column  int    // in characters
	Message string // what is wrong, without position
	Hint    string // what to do, "" = the message says it
	Source  string // the line itself, credentials masked, "" = none

	cause error
}

// Error renders `file:line:column: message`, the source line with a caret
// below the place, and the hint.
func (p Problem) Error() string {
	var b strings.Builder
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	case p.File != "":
		fmt.Fprintf(&b, "%s: %s", p.File, p.Message)
	default:
		b.WriteString(p.Message)
	}
	if p.Source != "" {
		source, column := window(p.Source, p.Column)
		fmt.Fprintf(&b, "\n%5d | %s\n      | %s^", p.Line, source, indent(source, column))
	}
	if p.Hint != "" {
		b.WriteString("\n        ")
		b.WriteString(p.Hint)
	}
	return b.String()
}

// Unwrap returns the error behind the problem, e.g. of a file that is not there.
func (p Problem) Unwrap() error { return p.cause }

// Because returns the problem with the error that it stands for.
func (p Problem) Because(err error) Problem {
	p.cause = err
	return p
}

// widest is the longest source line that is shown whole.
const widest = 160

// window cuts a very long line down to the part around the column.
func window(line string, column int) (string, int) {
	runes := []rune(line)
	if len(runes) <= widest {
		return line, column
	}
	from := max(0, min(column-1-widest/2, len(runes)-widest))
	return string(runes[from : from+widest]), column - from
}

// indent is the blank that puts a caret under a column; tabs stay tabs so that
// the terminal widens both lines alike.
func indent(line string, column int) string {
	var b strings.Builder
	at := 1
	for _, r := range line {
		if at >= column {
			break
		}
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
		at++
	}
	for ; at < column && at <= widest; at++ {
		b.WriteByte(' ')
	}
	return b.String()
}

// Problems is everything that is wrong, in the order of the file.
type Problems []Problem

// shown is how many problems an error text spells out.
const shown = 20

// Error renders the first problems, each as [Problem.Error] does.
func (ps Problems) Error() string {
	texts := make([]string, 0, shown+1)
	for i := range ps {
		if i == shown {
			texts = append(texts, fmt.Sprintf("… and %d more problems", len(ps)-shown))
			break
		}
		texts = append(texts, ps[i].Error())
	}
	return strings.Join(texts, "\n")
}

// Unwrap gives errors.Is and errors.As every problem.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i := range ps {
		errs[i] = ps[i]
	}
	return errs
}
