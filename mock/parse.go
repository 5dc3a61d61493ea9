package mock

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fault is a parsed fault. It is immutable and safe for concurrent use.
type Fault struct {
	text string
	play player
}

// String is the fault as it was written.
func (f Fault) String() string { return f.text }

// player answers one attempt the wrong way.
type player func(x *exchange)

// spec is what stands around the word of a fault.
type spec struct {
	word  string
	args  []string // after the colons
	at    int      // after the @
	hasAt bool
	depth int // of nesting, in p and flap
	parse func(text string, depth int) (Fault, error)
}

const (
	longestFault = 256
	deepestFault = 4
)

// Parse reads a fault, word[:argument…][@tokens], for example "slow:20s",
// "429:retry-after=2", "cut@40" or "p:0.25:503". The error names the nearest
// word, or the form that the word wants.
func Parse(fault string) (Fault, error) { return parseAt(fault, 0) }

func parseAt(text string, depth int) (Fault, error) {
	if len(text) > longestFault || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return Fault{}, fmt.Errorf("mock: a fault has at most %d printable characters", longestFault)
	}
	if depth > deepestFault {
		return Fault{}, fmt.Errorf("mock: faults are nested more than %d deep: use fewer p and flap", deepestFault)
	}
	e := find(wordOf(text))
	if e == nil {
		return Fault{}, fmt.Errorf("mock: unknown fault %q%s", text, didYouMean(wordOf(text)))
	}
	s, err := e.spec(text, depth)
	if err != nil {
		return Fault{}, err
	}
	play, err := e.make(s)
	if err != nil {
		return Fault{}, fmt.Errorf("mock: fault %q: %w; for example %s", text, err, e.Example)
	}
	return Fault{text: text, play: play}, nil
}

// known reports whether a model name starts with the word of a fault.
func known(model string) bool {
	return len(model) <= longestFault && find(wordOf(model)) != nil
}

// wordOf is the part of a fault before the first colon or at sign.
func wordOf(text string) string {
	if i := strings.IndexAny(text, ":@"); i >= 0 {
		return text[:i]
	}
	return text
}

// spec takes a fault's text apart. The arguments of a nesting word belong to
// the fault within.
func (e *entry) spec(text string, depth int) (spec, error) {
	s := spec{word: wordOf(text), depth: depth, parse: parseAt}
	rest := text[len(s.word):]
	if !e.nests {
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			n, err := strconv.Atoi(rest[i+1:])
			if err != nil || n < 0 || n > maxTokens {
				return s, fmt.Errorf("mock: fault %q: after the @ stands a number of tokens, 0 to %d; for example %s", text, maxTokens, e.Example)
			}
			s.at, s.hasAt, rest = n, true, rest[:i]
		}
	}
	if rest = strings.TrimPrefix(rest, ":"); rest != "" {
		s.args = strings.Split(rest, ":")
	}
	if s.hasAt && !e.counts {
		return s, fmt.Errorf("mock: fault %q: %s does not count tokens: leave out the @; for example %s", text, s.word, e.Example)
	}
	return s, nil
}

// none wants a fault without arguments.
func (s spec) none() error {
	if len(s.args) > 0 {
		return fmt.Errorf("no argument is taken, got %q", strings.Join(s.args, ":"))
	}
	return nil
}

// tokens is the number after the @, or a default.
func (s spec) tokens(otherwise int) int {
	if s.hasAt {
		return s.at
	}
	return otherwise
}

// duration reads the only argument as a time.
func (s spec) duration(otherwise time.Duration) (time.Duration, error) {
	switch len(s.args) {
	case 0:
		return otherwise, nil
	case 1:
		return positive(s.args[0])
	}
	return 0, fmt.Errorf("one duration is wanted, got %q", strings.Join(s.args, ":"))
}

func positive(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no duration above zero", text)
	}
	return d, nil
}

// choice reads the only argument as one of some words; without it the first.
func (s spec) choice(words ...string) (string, error) {
	switch {
	case len(s.args) == 0:
		return words[0], nil
	case len(s.args) == 1:
		for _, w := range words {
			if w != "" && w == s.args[0] {
				return w, nil
			}
		}
	}
	return "", fmt.Errorf("argument %q is not one of %s", strings.Join(s.args, ":"), strings.Join(words, " "))
}

// nested reads the arguments from the i-th as a fault, or takes a default.
func (s spec) nested(i int, otherwise string) (Fault, error) {
	text := otherwise
	if i < len(s.args) {
		text = strings.Join(s.args[i:], ":")
	}
	return s.parse(text, s.depth+1)
}
