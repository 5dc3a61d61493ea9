package config

import (
	"slices"
	"strings"

	"backstop/internal/config/tree"
)

// awaited is the one list of words that the file may hold although nothing
// acts on them yet. When a feature arrives, its row goes.
var awaited = []struct {
	path  string   // of the key; "*" stands for names and items
	words []string // values that are affected, nil = all but off
	says  string
}{
	{"upstreams.*.dialect", []string{"anthropic", "gemini"}, "is not spoken yet: tiers with this upstream are left out"},
	{"upstreams.*.breaker.probe", []string{"shadow"}, "has not arrived yet: acts as synthetic"},
	{"upstreams.*.passthrough", nil, "has not arrived yet: other paths answer 404"},
	{"routes.*.hedge.after", nil, "has not arrived yet: acts as off"},
}

// awaits reports whether a value of a key is on the list.
func awaits(path, word string) bool {
	_, ok := awaitedWord(path, word)
	return ok
}

func awaitedWord(path, word string) (says string, ok bool) {
	word = strings.ToLower(word)
	for _, a := range awaited {
		if a.path != path {
			continue
		}
		if a.words == nil {
			off := slices.Contains([]string{"", "0", "0s", "off", "false", "no", "none"}, word)
			return a.says, !off
		}
		return a.says, slices.Contains(a.words, word)
	}
	return "", false
}

// await warns of a key that was written although nothing acts on it yet.
func (r *reader) await(p tree.Pair) {
	path := strings.Join(r.path, ".")
	if rest, ok := strings.CutPrefix(path, "defaults."); ok {
		path = "upstreams.*." + rest
	}
	word := p.Value.Text
	if p.Value.Kind == tree.Mapping {
		word = "set"
	}
	says, ok := awaitedWord(path, word)
	if !ok {
		return
	}
	what := r.place()
	if p.Value.Kind == tree.Scalar {
		what += ": " + shorten(p.Value.Text)
	}
	r.warn(p.Key, "%s %s", what, says)
}
