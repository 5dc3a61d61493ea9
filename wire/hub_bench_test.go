package wire_test

import (
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// BenchmarkRequest compares what it takes to fit a request of 1 KiB to an
// upstream of its own dialect and of the other.
func BenchmarkRequest(b *testing.B) {
	long := strings.Repeat("word ", 200)
	bodies := map[string][]byte{
		"openai":    []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"` + long + `"}],"temperature":0.5}`),
		"anthropic": []byte(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"` + long + `"}],"temperature":0.5}`),
		"gemini":    []byte(`{"contents":[{"role":"user","parts":[{"text":"` + long + `"}]}],"generationConfig":{"temperature":0.5}}`),
		"responses": []byte(`{"model":"gpt-4o","input":[{"role":"user","content":"` + long + `"}],"temperature":0.5}`),
	}
	for from := range rooms {
		b.Run(from+" to itself", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, _ := rooms[from].Read(opOf(from), bodies[from])
				rooms[from].Outbound(r, upstreams[from], &backstop.Step{Model: "other"})
			}
		})
		for to := range rooms {
			if to == from {
				continue
			}
			b.Run(from+" to "+to, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r, _ := rooms[from].Read(opOf(from), bodies[from])
					p, _ := rooms[from].ToHub(r)
					rooms[to].FromHub(p, upstreams[to], &backstop.Step{Model: models[to]})
				}
			})
		}
	}
}

// BenchmarkAnswer is the way of a plain answer of 1 KiB between dialects.
func BenchmarkAnswer(b *testing.B) {
	m := &wire.Message{ID: "m", Model: "m", Usage: wire.NoUsage(), Choices: []wire.Choice{{
		Ending: wire.EndStop, Parts: []wire.Part{{Kind: wire.PartText, Text: strings.Repeat("word ", 200)}},
	}}}
	for from := range rooms {
		body, _ := rooms[from].EncodeBody(m)
		for to := range rooms {
			if to == from {
				continue
			}
			b.Run(from+" to "+to, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					wire.Translate(rooms[from], rooms[to], body, head)
				}
			})
		}
	}
}
