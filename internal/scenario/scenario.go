// Package scenario reads the YAML of a simulation into a [sim.Scenario], and
// the call log of a gateway into a replay.
//
// Unknown and double keys are errors with their place in the file, as in the
// configuration: a scenario is a gate in somebody's CI, and a misspelt
// expectation that is silently skipped would be worse than none.
package scenario

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"backstop"
	"backstop/internal/config/tree"
	"backstop/secret"
	"backstop/sim"
)

// File is a scenario as it was read.
type File struct {
	Scenario sim.Scenario
	Keys     map[string]int // how many keys an upstream of the default pair has

	names []*tree.Node // of upstreams
	src   *tree.Source
}

// Options are what reading depends on besides the file.
type Options struct {
	// ReadFile reads the scenario and the trace it names. Nil: the operating
	// system's.
	ReadFile func(path string) ([]byte, error)
}

// Load reads and checks a scenario. The error is [tree.Problems] or names the
// file that cannot be read.
func Load(path string, o Options) (*File, error) {
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	data, err := o.ReadFile(path)
	if err != nil {
		return nil, tree.Problems{tree.Problem{File: path, Message: "cannot be read", Hint: "name the scenario with -f FILE"}.Because(err)}
	}
	return Parse(path, data, o)
}

// Parse checks the bytes of a scenario. A trace that it names is relative to
// the folder of name.
func Parse(name string, data []byte, o Options) (*File, error) {
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	root, src, err := tree.Read(name, data)
	if err != nil {
		if p, ok := err.(tree.Problem); ok {
			return nil, src.Finish(tree.Problems{p})
		}
		return nil, err
	}
	r := &reader{src: src, read: o.ReadFile, dir: filepath.Dir(name)}
	f := &File{Keys: map[string]int{}, src: src}
	r.file(root, f)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b tree.Problem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, src.Finish(r.problems)
	}
	return f, nil
}

// Fits checks that a plan has the upstreams that the scenario names.
func (f *File) Fits(p *backstop.Plan) error {
	var ps tree.Problems
	for _, n := range f.names {
		if p.Upstream(n.Text) == nil {
			names := ""
			for i := range p.Upstreams {
				names += " " + p.Upstreams[i].Name
			}
			ps = append(ps, f.src.On(n, "no upstream has this name", "the plan has"+names))
		}
	}
	if len(ps) == 0 {
		return nil
	}
	return f.src.Finish(ps)
}

// Pair is the plan of a scenario without a configuration.
func (f *File) Pair() *backstop.Plan {
	p := sim.Pair()
	for i := range p.Upstreams {
		u := &p.Upstreams[i]
		for k := range f.Keys[u.Name] {
			u.Keys = append(u.Keys, secret.New("simulated-key-"+string(rune('a'+k%26))))
		}
	}
	return p
}
