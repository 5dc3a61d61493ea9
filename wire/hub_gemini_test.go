package wire_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"backstop/sse"
	"backstop/wire"
)

// inGemini makes of a prompt one that Gemini's dialect can express.
func inGemini(t *rapid.T, p *wire.Prompt) {
	p.Served, p.Parallel = "", wire.Unset
	for i := range p.Tools {
		p.Tools[i].Strict = wire.Unset
	}
	p.Seed, p.TopK, p.Choices = number(t, "seed", "7"), number(t, "top_k", "40"), rapid.IntRange(1, 3).Draw(t, "n")
	p.Effort = rapid.SampledFrom([]string{"", "minimal", "low", "medium", "high"}).Draw(t, "effort")
}

// What a hostile upstream puts into a text stays a text, from Gemini's dialect
// and into it.
func TestNothingInATextBecomesAnEventOfGemini(t *testing.T) {
	evil := "a\n\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\ndata: {\"error\":{\"code\":500}}\r\n\r\n\u2028event: error"
	m := &wire.Message{ID: evil, Model: evil, Usage: wire.NoUsage(), Choices: []wire.Choice{{Ending: wire.EndTools, Parts: []wire.Part{
		{Kind: wire.PartReasoning, Text: evil}, {Kind: wire.PartText, Text: evil},
		{Kind: wire.PartToolCall, ID: evil, Name: evil, Arguments: "{\n\"a\":\"\\n\\ndata: x\"}"},
	}}}}
	for from := range rooms {
		for to := range rooms {
			if from != "gemini" && to != "gemini" {
				continue
			}
			body, ok := rooms[from].EncodeBody(m)
			if !ok {
				t.Fatal(from)
			}
			b, w := wire.NewBridge(rooms[from], rooms[to], head), rooms[to].Writer(&wire.Request{Op: opOf(to), Stream: true})
			stream := b.Writer(w)
			var out strings.Builder
			for _, data := range rooms[from].Explode(&wire.Request{Op: opOf(from)}, body) {
				out.Write(stream.Event(&sse.Event{Data: data}, nil))
			}
			out.Write(stream.Close(nil))
			ends := 0
			events := sse.NewReader(strings.NewReader(out.String()), 0)
			for {
				ev, err := events.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				data := string(ev.Data)
				switch {
				case data == "[DONE]", ev.Name == "message_stop", ev.Name == "response.completed", to == "gemini" && strings.Contains(data, `"finishReason":"`):
					ends++
				case ev.Name == "error" || !json.Valid(ev.Data) || to == "gemini" && (ev.Name != "" || strings.Contains(data, `"error":{"`)):
					t.Errorf("%s to %s: %q", from, to, ev.Raw)
				}
			}
			if ends != 1 || !strings.HasSuffix(out.String(), "\n\n") {
				t.Errorf("%s to %s: %d ends in %q", from, to, ends, out.String())
			}
		}
	}
}

// Whatever an upstream of Gemini's dialect says, a caller of another gets whole
// events with at most one end, the last.
func FuzzGeminiBridge(f *testing.F) {
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true},{\"text\":\"b\"},{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{}}\n\n")
	f.Add("data: {\"candidates\":[{\"index\":1,\"finishReason\":\"SAFETY\"}],\"promptFeedback\":{\"blockReason\":\"OTHER\"}}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		for to := range rooms {
			if to == "gemini" {
				continue
			}
			out, _ := streamed(t, "gemini", to, stream)
			events, ended := sse.NewReader(strings.NewReader(out), 0), false
			for {
				ev, err := events.Next()
				if err == io.EOF {
					break
				}
				if err != nil || ended {
					t.Fatalf("%s: %v, ended %v: %q", to, err, ended, out)
				}
				done := string(ev.Data) == "[DONE]"
				if !done && !json.Valid(ev.Data) {
					t.Fatalf("%s: %q", to, ev.Raw)
				}
				ended = done || ev.Name == "message_stop" || ev.Name == "error" || ev.Name == "response.completed"
			}
		}
	})
}
