// Package config turns a file, the environment or a few flags into a plan.
//
// It is the only room that knows YAML and how defaults are merged; the values
// of the defaults are the card in the root package. Everything a file can get
// wrong is found here, before the process takes a call: a [Config] that was
// returned without an error is fit to run.
package config

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"backstop"
	"backstop/internal/config/tree"
	"backstop/jsonfix"
	"backstop/secret"
)

// Problem is one thing that is wrong, with its place, its source line and a
// hint. Its Error renders all of that.
type Problem = tree.Problem

// Problems is everything that is wrong with a configuration; it is the error
// type of this package.
type Problems = tree.Problems

// Warning is something that works but is probably not what was meant. Line is
// 0 if it has no place in a file.
type Warning struct {
	Line    int
	Message string
}

// Options are what loading depends on besides the file.
type Options struct {
	// Env looks up an environment variable. Nil: no variable is set.
	Env func(name string) (string, bool)
	// ReadFile reads the configuration and the files it names. Nil: the
	// operating system's, at most a little over 1 MiB of each.
	ReadFile func(path string) ([]byte, error)
	// Schema compiles the JSON Schema of a route, so that templates can be
	// checked against it. Nil: they are not.
	Schema func(source []byte) (jsonfix.Schema, error)
	// Lenient makes unknown keys warnings.
	Lenient bool
	// Terminal says that stdout is a terminal: log.format auto is text then.
	Terminal bool
	// Listen and Admin, if not empty, take the place of the file's addresses.
	Listen, Admin string

	renamed []renamedKey // of tests; nil = the table of renamed keys
}

// Config is a checked configuration. It is immutable.
type Config struct {
	Version     int
	Listen      []string // host:port; localhost gave 127.0.0.1 and [::1]
	Admin       Admin
	Metrics     []string // host:port of GET /metrics alone, none = admin plane only
	Callers     []Caller // none = anyone who reaches a loopback listener
	Profile     string   // default | article
	Plan        *backstop.Plan
	Agent       Agent
	RetrySignal string // fixed | adaptive
	StateFile   string // "" = none
	Drain       Drain
	Log         Log
	Source      string // file name, or where else the plan came from
}

// Admin is the admin plane's listener.
type Admin struct {
	Listen []string
	Token  secret.Value // empty: whoever starts the plane makes a random one
	// TokenFile is for the one who makes the token: where it was written.
	TokenFile string
}

// Caller is one application that may call.
type Caller struct {
	Name     string
	Keys     []secret.Value
	Models   []string // names and patterns, never empty
	Rate     float64  // calls per second, 0 = no limit
	Inflight int      // 0 = no limit
	Local    bool     // may be answered by a local tier
}

// Agent is POST /api/agent.
type Agent struct {
	Model string // model name when the body names none; a route always matches it
	JSON  bool   // every answer is promised JSON
}

// Drain is the way down after SIGTERM.
type Drain struct{ Delay, Limit time.Duration }

// Log is the log on stdout; Format is text or json, never auto.
type Log struct{ Level, Format string }

// Load reads and checks a file. The error is [Problems].
func Load(path string, o Options) (*Config, []Warning, error) {
	o = o.complete()
	data, err := o.ReadFile(path)
	if err != nil {
		p := Problem{File: path, Message: "cannot be read: " + reason(err), Hint: "name the file with -c FILE"}
		return nil, nil, Problems{p.Because(err)}
	}
	return parse(path, filepath.Dir(path), data, o)
}

// Parse checks the bytes of a file. Files that it names are relative to the
// folder of name. The error is [Problems].
func Parse(name string, data []byte, o Options) (*Config, []Warning, error) {
	return parse(name, filepath.Dir(name), data, o.complete())
}

func parse(name, dir string, data []byte, o Options) (*Config, []Warning, error) {
	root, src, err := tree.Read(name, data)
	r := &reader{src: src, opt: o, dir: dir}
	if err != nil {
		return nil, nil, asProblems(err, src)
	}
	f := new(fileSpec)
	switch root.Kind {
	case tree.Null:
		r.problem(nil, "is empty", "the smallest useful file has upstreams and routes: see docs/config.md")
	case tree.Mapping:
		f.keys().take(r, root)
		f.mergeUpstreams(r)
	default:
		src.HideAll(root)
		r.problem(root, "a configuration is a mapping, not "+root.Kind.String(), "it begins with a key such as upstreams:")
	}
	return r.build(f, root)
}

func asProblems(err error, src *tree.Source) Problems {
	if p, ok := err.(Problem); ok {
		return src.Finish(Problems{p})
	}
	return Problems{src.Nowhere(err.Error(), "")}
}

func (o Options) complete() Options {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	if o.ReadFile == nil {
		o.ReadFile = readBounded
	}
	return o
}

// readBounded never holds more than a file may have, whatever the path names.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, tree.MaxSize+1))
}

// reason is an error of the file system without the path, which the message
// around it names already.
func reason(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
