package config

import (
	"strings"

	"backstop/internal/config/tree"
)

// renamedKey is a key of the file that was renamed. It works as before, with a
// warning, for two minor releases after the one that renamed it; then its row
// goes, and the key is unknown with a hint as any other.
type renamedKey struct {
	path string // of the mapping it stands in, "*" for names and items, "" = top
	name string // as it was
	now  string // as it is called in the same mapping today
	gone string // release that will not know it any more
}

// renamedKeys lists every renamed key. No release has renamed one so far.
func renamedKeys() []renamedKey { return nil }

// current gives a pair the name that its key has today.
func (r *reader) current(p tree.Pair) tree.Pair {
	list := r.opt.renamed
	if list == nil {
		list = renamedKeys()
	}
	path := strings.Join(r.path, ".")
	if rest, ok := strings.CutPrefix(path+".", "defaults."); ok {
		path = strings.TrimSuffix("upstreams.*."+rest, ".")
	}
	for _, f := range list {
		if f.path == path && f.name == p.Key.Text {
			r.warn(p.Key, "%s is called %s now: it works until version %s, then it is unknown", shorten(f.name), f.now, f.gone)
			key := *p.Key
			key.Text = f.now
			p.Key = &key
			break
		}
	}
	return p
}
