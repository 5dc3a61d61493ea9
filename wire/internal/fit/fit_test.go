package fit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

type log []string

func (l *log) Rename(from, to string) { *l = append(*l, from+">"+to) }
func (l *log) Drop(name string) bool  { *l = append(*l, "-"+name); return true }
func (l *log) Set(name, raw string)   { *l = append(*l, name+"="+raw) }

func TestQuirksAreMadeInOneOrderAndNeverTouchTheCore(t *testing.T) {
	q := &backstop.Quirks{
		RenameParams: map[string]string{"c": "d", "a": "b", "model": "x", "y": "model", "z": ""},
		DropParams:   []string{"e", "model"},
		SetParams:    map[string]any{"h": 1, "g": "t", "model": "no", "bad": func() {}},
	}
	core := func(name string) bool { return name == "model" }
	for _, c := range []struct {
		own  func(string) string
		want []string
	}{
		{nil, []string{"a>b", "c>d", "-e", `g="t"`, "h=1"}},
		{strings.ToUpper, []string{"A>B", "C>D", "Y>MODEL", "-E", `G="t"`, "H=1"}},
	} {
		var got log
		Apply(q, &got, core, c.own)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// some is a request with some parameters.
type some map[string]bool

func (s some) Rename(from, to string) { s[to] = s[from] }
func (s some) Drop(name string) bool  { return s[name] }
func (s some) Set(string, string)     {}

func TestWhatAQuirkLeavesOutIsToldIfItWasThere(t *testing.T) {
	q := &backstop.Quirks{RenameParams: map[string]string{"a": "b"}, DropParams: []string{"b", "c", "model", "d", "b", "stream_options"}}
	core := func(name string) bool { return name == "model" }
	there := some{"a": true, "d": true, "model": true, "stream_options": true}
	if got := Apply(q, there, core, nil); !slices.Equal(got, []string{"b", "d"}) {
		t.Errorf("left out %v", got)
	}
	if got := Apply(q, some{}, core, nil); len(got) > 0 {
		t.Errorf("left out %v of nothing", got)
	}
}

func TestAStreamIsAskedForUnlessTheStepIsPlain(t *testing.T) {
	for _, c := range []struct{ stream, plain, want bool }{{true, false, true}, {true, true, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := Streamed(&wire.Request{Stream: c.stream, Op: wire.Chat}, &backstop.Step{Plain: c.plain}); got != c.want {
				t.Error(got)
			}
		})
	}
}
