package observe

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"backstop"
)

// other stands for everything that is no config name and no fixed word: a
// caller cannot make new series.
const other = "other"

// The fixed words of labels.
var (
	skipWords  = []string{"open", "parked", "rate", "full", "context", "deadline", "dialect", "model", "budget"}
	scopeWords = []string{"endpoint", "model", "quality", "embed"}
	stateWords = []string{"closed", "open", "half-open", "forced-open", "forced-closed"}
	causeWords = []string{"run", "rate", "hang", "directed", "probe", "lease", "forced", "restored"}
	tierWords  = []string{"primary", "backup", "local"}

	rescueWords = []string{"spliced", "continued", "failed"}
)

func oneOf(words []string, word string) string {
	if slices.Contains(words, word) {
		return word
	}
	return other
}

// tierWord is the tier that answered, "none" if none did.
func tierWord(tier string) string {
	if tier == "" {
		return "none"
	}
	return oneOf(tierWords, tier)
}

// names are the config names in force.
type names struct {
	routes, upstreams, callers, models map[string]bool
	vendors                            map[string]string // of upstreams, in the words of gen_ai

	// gaps are the histograms of the upstreams: to look one up in its list costs
	// more than to add a token's gap to it.
	gaps map[string]prometheus.Observer
}

func newNames(p *backstop.Plan, callers []string) *names {
	n := &names{
		routes: map[string]bool{}, upstreams: map[string]bool{"template": true, "cache": true}, callers: map[string]bool{},
		models: map[string]bool{templateModel: true}, vendors: map[string]string{}, gaps: map[string]prometheus.Observer{},
	}
	if p != nil {
		for i := range p.Routes {
			n.add(&p.Routes[i])
		}
		for i := range p.Upstreams {
			u := &p.Upstreams[i]
			n.upstreams[u.Name] = true
			n.vendors[u.Name] = vendorWord(u)
		}
	}
	for _, c := range callers {
		n.callers[c] = true
	}
	return n
}

// templateModel is the name that a template answers under.
const templateModel = "backstop-template"

// add takes over what one route names: its pattern, and the models of its tiers.
func (n *names) add(r *backstop.Route) {
	n.routes[r.Model] = true
	if r.Exact() {
		n.models[r.Model] = true
	}
	for i := range r.Tiers {
		if m := r.Tiers[i].Model; m != "" {
			n.models[m] = true
		}
	}
}

func (n *names) model(name string) string    { return known(n.models, name) }
func (n *names) route(name string) string    { return known(n.routes, name) }
func (n *names) upstream(name string) string { return known(n.upstreams, name) }

// caller is "none" where callers are not configured: whoever calls then is
// known by an address only, which is no label.
func (n *names) caller(name string) string {
	if len(n.callers) == 0 {
		return "none"
	}
	return known(n.callers, name)
}

func known(set map[string]bool, name string) string {
	switch {
	case name == "":
		return "none"
	case set[name]:
		return name
	}
	return other
}

// words admits the first few words of a kind that it meets, if they look like
// words: the codes of repairs belong to another room.
type words struct {
	mu  sync.Mutex
	met map[string]bool
}

const (
	mostWords   = 64
	longestWord = 32
)

func (w *words) admit(word string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.met[word] {
		return word
	}
	if len(w.met) >= mostWords || !plainWord(word) {
		return other
	}
	if w.met == nil {
		w.met = map[string]bool{}
	}
	w.met[word] = true
	return word
}

func plainWord(word string) bool {
	for _, c := range word {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return word != "" && len(word) <= longestWord
}
