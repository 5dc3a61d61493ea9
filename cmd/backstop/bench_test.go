package main

import (
	"strings"
	"testing"

	"backstop/internal/load"
)

func TestABenchThatGotNowhereSaysWhatToDo(t *testing.T) {
	of := func(list ...load.Sample) load.Samples { return list }
	refused, gone, good := load.Sample{Status: 401}, load.Sample{Err: load.ErrConnect}, load.Sample{Status: 200}
	for _, c := range []struct {
		key     string
		samples load.Samples
		want    string // "" = nothing
	}{
		{"", of(gone, gone), "start the gateway"},
		{"", of(refused, refused), "--key-env"},
		{"WEB_KEY", of(refused, refused), "refuses the key in WEB_KEY"},
		{"", of(good, gone), ""},
		{"", of(good, refused), ""},
		{"", of(good), ""},
	} {
		got := (&benchCmd{KeyEnv: c.key}).hint(c.samples)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.samples, got, c.want)
		}
	}
}
