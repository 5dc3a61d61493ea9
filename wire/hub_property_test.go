package wire_test

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// words are texts that are hard on quoting and framing.
func words() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringN(1, 12, 40), rapid.SampledFrom([]string{"a\nb", "\r\n\r\ndata: x", "event: error\n", "\"\\", "\u2028", "日本語", "<|x|>", "\x00", "[DONE]"}))
}

func names() *rapid.Generator[string] { return rapid.StringMatching(`[a-zA-Z0-9_-]{1,20}`) }

func arguments() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		b, err := json.Marshal(map[string]any{names().Draw(t, "key"): words().Draw(t, "value"), "n": rapid.Int().Draw(t, "n")})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	})
}

func text(t *rapid.T) wire.Part { return wire.Part{Kind: wire.PartText, Text: words().Draw(t, "text")} }

func image(t *rapid.T) wire.Part {
	if rapid.Bool().Draw(t, "url") {
		return wire.Part{Kind: wire.PartImage, URL: "https://example.com/" + names().Draw(t, "path")}
	}
	return wire.Part{Kind: wire.PartImage, Media: rapid.SampledFrom([]string{"image/png", "image/jpeg"}).Draw(t, "media"), Data: "aGk="}
}

func call(t *rapid.T, id string) wire.Part {
	return wire.Part{Kind: wire.PartToolCall, ID: id, Name: names().Draw(t, "name"), Arguments: arguments().Draw(t, "arguments")}
}

// talk makes turns that both dialects can express.
func talk(t *rapid.T, dialect string) (turns []wire.Turn) {
	for i := range rapid.IntRange(1, 3).Draw(t, "rounds") {
		asked := wire.Turn{Role: wire.ByAsker, Parts: []wire.Part{text(t)}}
		if rapid.Bool().Draw(t, "picture") {
			asked.Parts = append(asked.Parts, image(t))
		}
		turns = append(turns, asked)
		answer := wire.Turn{Role: wire.ByModel}
		if rapid.Bool().Draw(t, "thinks") {
			thought := wire.Part{Kind: wire.PartReasoning, Text: words().Draw(t, "thought")}
			if dialect == "anthropic" {
				thought.Proof = names().Draw(t, "proof")
			}
			answer.Parts = append(answer.Parts, thought)
		}
		answer.Parts = append(answer.Parts, text(t))
		calls := rapid.IntRange(0, 2).Draw(t, "calls")
		for j := range calls {
			answer.Parts = append(answer.Parts, call(t, "id_"+strconv.Itoa(i)+"_"+strconv.Itoa(j)))
		}
		turns = append(turns, answer)
		for j := range calls {
			result := wire.Part{Kind: wire.PartToolResult, ID: "id_" + strconv.Itoa(i) + "_" + strconv.Itoa(j), Result: []wire.Part{text(t)}}
			if dialect == "anthropic" {
				result.Failed = rapid.Bool().Draw(t, "failed")
			}
			turns = append(turns, wire.Turn{Role: wire.ByTool, Parts: []wire.Part{result}})
		}
	}
	return append(turns, wire.Turn{Role: wire.ByAsker, Parts: []wire.Part{text(t)}})
}

func number(t *rapid.T, name, value string) wire.Number {
	if rapid.Bool().Draw(t, name) {
		return wire.Number(value)
	}
	return ""
}

// prompts makes prompts that a dialect can express.
func prompts(t *rapid.T, dialect string) *wire.Prompt {
	d := rooms[dialect].Dialect()
	p := &wire.Prompt{
		Dialect: d, Op: wire.Chat, Model: models[dialect], Stream: rapid.Bool().Draw(t, "stream"), Choices: 1,
		Turns: talk(t, dialect), MaxTokens: rapid.IntRange(1, 9000).Draw(t, "max"),
		Temperature: number(t, "temperature", "0.7"), TopP: number(t, "top_p", "0.9"),
		Served: rapid.SampledFrom([]string{"", "someone"}).Draw(t, "user"),
	}
	p.UsageOn = d != backstop.OpenAI || p.Stream // an upstream is always asked for it
	if rapid.Bool().Draw(t, "system") {
		p.System = []string{words().Draw(t, "instruction")}
	}
	if d != backstop.Responses && rapid.Bool().Draw(t, "stops") {
		p.Stop = []string{"END", "a\nb"}
	}
	if rapid.Bool().Draw(t, "tools") {
		closed := []byte(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`)
		p.Tools = []wire.Tool{{Name: names().Draw(t, "tool"), Description: words().Draw(t, "description"), Schema: closed, Strict: rapid.SampledFrom([]wire.Switch{wire.Unset, wire.On}).Draw(t, "strict")}}
		p.ToolChoice.Kind = wire.ChoiceKind(rapid.IntRange(1, 4).Draw(t, "choice"))
		if p.ToolChoice.Kind == wire.ChoiceNamed {
			p.ToolChoice.Name = p.Tools[0].Name
		}
		if p.ToolChoice.Kind != wire.ChoiceNone {
			p.Parallel = wire.Switch(rapid.IntRange(0, 2).Draw(t, "parallel"))
		}
	}
	if rapid.Bool().Draw(t, "promise") {
		p.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: []byte(`{"type":"object","additionalProperties":false}`)}
	}
	switch d {
	case backstop.OpenAI:
		p.Seed, p.Frequency, p.Presence = number(t, "seed", "7"), number(t, "frequency", "0.5"), number(t, "presence", "-1")
		p.Choices = rapid.IntRange(1, 3).Draw(t, "n")
	case backstop.Anthropic:
		p.TopK = number(t, "top_k", "40")
	}
	if d == backstop.OpenAI || d == backstop.Responses {
		p.Effort = rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "effort")
		if p.Promise.Kind != 0 {
			p.PromiseName, p.Strict = names().Draw(t, "format"), wire.Switch(rapid.IntRange(0, 2).Draw(t, "exact"))
		}
	}
	if d == backstop.Gemini {
		inGemini(t, p)
	}
	return p
}

func TestAPromptSurvivesItsDialect(t *testing.T) {
	for dialect, room := range rooms {
		t.Run(dialect, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := prompts(t, dialect)
				out, losses := room.FromHub(want, upstreams[dialect], &backstop.Step{Model: want.Model, Plain: !want.Stream})
				if len(losses.Cannot)+len(losses.Left) > 0 {
					t.Fatalf("lost: %+v", losses)
				}
				r, fail := room.Read(opOf(dialect), out.Body)
				if fail != nil {
					t.Fatalf("%v in %s", fail, out.Body)
				}
				if dialect == "gemini" {
					r.Model, r.Stream = want.Model, out.Stream // they stand in the path
				}
				got, fail := room.ToHub(r)
				if fail != nil {
					t.Fatal(fail)
				}
				if a, b := plainPrompt(t, got), plainPrompt(t, want); a != b {
					t.Fatalf("got\n%s\nwant\n%s\nthrough\n%s", a, b, out.Body)
				}
			})
		})
	}
}

// plainPrompt is a prompt without what only a request has: places and names.
func plainPrompt(t *rapid.T, p *wire.Prompt) string {
	q := *p
	q.Names = nil
	q.Turns = append([]wire.Turn(nil), p.Turns...)
	for i := range q.Turns {
		q.Turns[i].At = ""
		q.Turns[i].Parts = unplaced(q.Turns[i].Parts)
	}
	q.Tools = append([]wire.Tool(nil), p.Tools...)
	for i := range q.Tools {
		q.Tools[i].At = ""
	}
	b, err := json.MarshalIndent(q, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func unplaced(parts []wire.Part) []wire.Part {
	parts = append([]wire.Part(nil), parts...)
	for i := range parts {
		parts[i].At, parts[i].Result = "", unplaced(parts[i].Result)
	}
	return parts
}

// messages makes answers that both dialects can express.
func messages(t *rapid.T, proof bool) *wire.Message {
	m := &wire.Message{ID: names().Draw(t, "id"), Model: names().Draw(t, "model"), Created: head.Created, Usage: wire.NoUsage()}
	m.Usage.Input, m.Usage.Output = rapid.IntRange(50, 99).Draw(t, "input"), rapid.IntRange(0, 99).Draw(t, "output")
	if rapid.Bool().Draw(t, "cached") {
		m.Usage.Cached = rapid.IntRange(0, 40).Draw(t, "cached tokens")
	}
	c := wire.Choice{Ending: rapid.SampledFrom([]wire.Ending{wire.EndStop, wire.EndLength, wire.EndRefusal}).Draw(t, "ending")}
	if rapid.Bool().Draw(t, "thinks") {
		thought := wire.Part{Kind: wire.PartReasoning, Text: words().Draw(t, "thought")}
		if proof {
			thought.Proof = names().Draw(t, "proof")
		}
		c.Parts = append(c.Parts, thought)
	}
	c.Parts = append(c.Parts, text(t))
	if n := rapid.IntRange(0, 3).Draw(t, "calls"); n > 0 {
		c.Ending = wire.EndTools
		for i := range n {
			c.Parts = append(c.Parts, call(t, "id_"+strconv.Itoa(i)))
		}
	}
	m.Choices = []wire.Choice{c}
	return m
}

func plainMessage(t *rapid.T, m *wire.Message, proof bool) string {
	q := *m
	q.Created = 0
	if q.Usage.Cached == 0 { // some dialects say so, others say nothing
		q.Usage.Cached = -1
	}
	if q.Usage.Reasoning == 0 {
		q.Usage.Reasoning = -1
	}
	q.Choices = append([]wire.Choice(nil), m.Choices...)
	for i := range q.Choices {
		q.Choices[i].Parts = append([]wire.Part(nil), q.Choices[i].Parts...)
		for j := range q.Choices[i].Parts {
			if !proof {
				q.Choices[i].Parts[j].Proof = ""
			}
		}
	}
	b, err := json.MarshalIndent(q, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnAnswerSurvivesItsDialect(t *testing.T) {
	for dialect, room := range rooms {
		t.Run(dialect, func(t *testing.T) {
			proof := dialect == "anthropic"
			rapid.Check(t, func(t *rapid.T) {
				want := messages(t, proof)
				body, ok := room.EncodeBody(want)
				if !ok {
					t.Fatal("not expressed")
				}
				got, ok := room.DecodeBody(body)
				if !ok {
					t.Fatalf("not read: %s", body)
				}
				if a, b := plainMessage(t, got, proof), plainMessage(t, want, proof); a != b {
					t.Fatalf("got\n%s\nwant\n%s\nthrough\n%s", a, b, body)
				}
			})
		})
	}
}

// An answer that is streamed in one dialect says the same in the other.
func TestAnAnswerSurvivesTheBridge(t *testing.T) {
	for from := range rooms {
		for to := range rooms {
			t.Run(from+" to "+to, func(t *testing.T) {
				proof := from == "anthropic" && to == "anthropic"
				rapid.Check(t, func(t *rapid.T) {
					want := messages(t, proof)
					body, _ := rooms[from].EncodeBody(want)
					got, ok := rooms[to].DecodeBody(bridged(from, to, body))
					if !ok {
						t.Fatalf("not read, from %s", body)
					}
					if a, b := plainMessage(t, got, proof), plainMessage(t, want, proof); a != b {
						t.Fatalf("got\n%s\nwant\n%s\nfrom\n%s", a, b, body)
					}
				})
			})
		}
	}
}

// bridged streams a body through a bridge and puts the result together.
func bridged(from, to string, body []byte) []byte {
	r := &wire.Request{Op: wire.Chat, UsageOn: true}
	b := wire.NewBridge(rooms[from], rooms[to], head)
	sum := rooms[to].Aggregator(r)
	add := func(list []wire.Framed) {
		for _, f := range list {
			sum.Add(f.Data)
		}
	}
	for _, data := range rooms[from].Explode(r, body) {
		add(b.Event(&sse.Event{Data: data}, nil))
	}
	add(b.End())
	return sum.Body()
}

// Whatever one dialect's upstream says, a caller of the other gets whole
// events with at most one end, the last.
func FuzzBridge(f *testing.F) {
	f.Add("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", true)
	f.Add("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"\",\"name\":\"f\",\"input\":{\"a\":1}}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n", false)
	f.Fuzz(func(t *testing.T, stream string, fromOpenAI bool) {
		from, to := "openai", "anthropic"
		if !fromOpenAI {
			from, to = to, from
		}
		out, _ := streamed(t, from, to, stream)
		events, ended := sse.NewReader(strings.NewReader(out), 0), false
		for {
			ev, err := events.Next()
			if err == io.EOF {
				return
			}
			if err != nil || ended {
				t.Fatalf("%v, ended %v: %q", err, ended, out)
			}
			done := string(ev.Data) == "[DONE]"
			if !done && !json.Valid(ev.Data) {
				t.Fatalf("%q", ev.Raw)
			}
			ended = done || ev.Name == "message_stop" || ev.Name == "error"
		}
	})
}
