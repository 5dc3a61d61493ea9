// Package importer reads the configuration of another gateway and writes ours,
// together with an account of everything that was not carried over, and why.
// It translates in one direction and makes nothing up: what has no counterpart
// is named. A key that stands in a file is never written again; a reference to
// a variable takes its place.
//
// Stability: internal.
package importer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"backstop/internal/config/tree"
)

// Result is a translated configuration.
type Result struct {
	YAML      []byte
	Upstreams int
	Routes    int
	Notes     []Note   // in the order of the file
	Needs     []string // variables that the configuration reads, sorted
	Addresses []string // those of them that hold an address
}

// Note is something that an operator must know about one key of the file.
type Note struct {
	Kind  Kind
	Where string // path of the key, such as router_settings.routing_strategy
	Line  int    // 0 = unknown
	Why   string
}

// Kind says what became of a key.
type Kind string

// Dropped keys have no counterpart, Changed ones mean something else than
// before, Secret ones held a credential that was taken out.
const (
	Dropped Kind = "not carried over"
	Changed Kind = "changed"
	Secret  Kind = "taken out"
)

// maxNotes bounds the account of a hostile file.
const maxNotes = 2000

// notes collects what an operator must know.
type notes struct{ list []Note }

func (n *notes) add(kind Kind, where string, at *tree.Node, form string, args ...any) {
	note := Note{Kind: kind, Where: shown(where), Why: fmt.Sprintf(form, args...)}
	if at != nil {
		note.Line = at.Line
	}
	if len(n.list) < maxNotes && !slices.Contains(n.list, note) {
		n.list = append(n.list, note)
	}
}

// WriteReport writes the account for people.
func (r *Result) WriteReport(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n", count(r.Upstreams, "upstream"), count(r.Routes, "route"))
	for _, kind := range []Kind{Secret, Changed, Dropped} {
		head := true
		for _, n := range r.Notes {
			if n.Kind != kind {
				continue
			}
			if head {
				fmt.Fprintf(&b, "%s:\n", kind)
				head = false
			}
			line := ""
			if n.Line > 0 {
				line = fmt.Sprintf(" (line %d)", n.Line)
			}
			fmt.Fprintf(&b, "  %s%s: %s\n", n.Where, line, n.Why)
		}
	}
	if len(r.Needs) > 0 {
		fmt.Fprintf(&b, "set before the start: %s\n", strings.Join(r.Needs, ", "))
	}
	b.WriteString(noLastWord)
	_, err := io.WriteString(w, b.String())
	return err
}

// lastTier is a tier that answers when no upstream does.
const lastTier = `- local: {template: {text: "The assistant is busy, please try again in a minute."}}`

// noLastWord says why no route ends with a text. The other gateways have no
// such tier, and whether an application wants a text for an error is not ours
// to guess.
const noLastWord = "no text of ours was added: when no upstream answers, callers get an error, as before.\n" +
	"  To answer with a text instead, end the tiers of a route with\n  " + lastTier + "\n"

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Env lets the configuration be checked where its variables are not set: those
// that hold an address get one, all others come from env.
func (r *Result) Env(env func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if slices.Contains(r.Addresses, name) {
			return "https://address.example", true
		}
		return env(name)
	}
}

// shown is a foreign text as a report may repeat it: short, printable, and
// masked if it looks like a key.
func shown(text string) string {
	if looksSecret(text) {
		return "***"
	}
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || c == '\u2028' || c == '\u2029' {
			return '?'
		}
		return c
	}, text)
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:100]) + "…"
	}
	return text
}
