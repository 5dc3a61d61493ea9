package backstophttp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"backstop/sse"
)

// voice is an upstream's way of telling a stream: each has its own head.
type voice struct{ id, model, print string }

var (
	voiceP = voice{"p1", "mp", "fp_p"}
	voiceB = voice{"b1", "mb", "fp_b"}
)

func (v voice) chunk(choices, more string) string {
	return fmt.Sprintf(`data: {"id":%q,"object":"chat.completion.chunk","created":%d,"model":%q,"system_fingerprint":%q,"choices":%s%s}`+"\n\n",
		v.id, len(v.model)*100+int(v.id[0]), v.model, v.print, choices, more)
}

func (v voice) delta(delta, finish string) string {
	return v.chunk(fmt.Sprintf(`[{"index":0,"delta":%s,"finish_reason":%s}]`, delta, finish), "")
}

func (v voice) role() string { return v.delta(`{"role":"assistant","content":""}`, "null") }
func (v voice) end(reason string) string {
	return v.delta("{}", `"`+reason+`"`)
}
func (v voice) usage(n int) string {
	return v.chunk("[]", fmt.Sprintf(`,"usage":{"prompt_tokens":7,"completion_tokens":%d,"total_tokens":%d}`, n, n+7))
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

func (v voice) say(text string) string { return v.delta(`{"content":`+quoted(text)+`}`, "null") }
func (v voice) think(text string) string {
	return v.delta(`{"reasoning_content":`+quoted(text)+`}`, "null")
}

// tells is a whole stream of an answer in pieces.
func (v voice) tells(pieces ...string) []string {
	script := []string{v.role()}
	for _, p := range pieces {
		script = append(script, v.say(p))
	}
	return append(script, v.end("stop"), v.usage(len(pieces)), done)
}

// starts is the beginning of such a stream, and what comes after it.
func (v voice) starts(pieces []string, then ...string) []string {
	script := []string{v.role()}
	for _, p := range pieces {
		script = append(script, v.say(p))
	}
	return append(script, then...)
}

// bytewise cuts a text into its bytes, whole characters only.
func bytewise(text string) []string { return strings.Split(text, "") }

// told is what a caller understood of its stream.
type told struct {
	text, thoughts string
	ids, models    map[string]bool
	created        map[int]bool
	prints         map[string]bool
	finish         []string
	code           string // of the error frame
	usage          int    // completion tokens, 0 = none came
	done           int
	tools          string // arguments
	note           struct {
		Rescued, Continued bool
		Upstream, Tier     string
		Reason             string
		Attempts           int
		Repaired           []string
		Truncated          bool
	}
	noted  bool
	events int
}

type heardChunk struct {
	ID      string
	Model   string
	Created int
	Print   string `json:"system_fingerprint"`
	Choices []struct {
		Delta struct {
			Content   *string
			Reasoning string `json:"reasoning_content"`
			ToolCalls []struct {
				Function struct{ Arguments string }
			} `json:"tool_calls"`
		}
		Text   *string
		Finish *string `json:"finish_reason"`
	}
	Usage *struct {
		Output int `json:"completion_tokens"`
	}
	Error *struct{ Code string }
	Note  json.RawMessage `json:"x_backstop"`
}

// understand reads a stream as an SDK does, and fails on what it would trip
// over: text behind the end, two ends, an event that is no JSON.
func understand(t *testing.T, stream string) *told {
	t.Helper()
	g := &told{ids: map[string]bool{}, models: map[string]bool{}, created: map[int]bool{}, prints: map[string]bool{}}
	events := sse.NewReader(strings.NewReader(stream), 0)
	for {
		ev, err := events.Next()
		if err != nil {
			break
		}
		if ev.Comment {
			continue
		}
		if g.done > 0 || g.code != "" {
			t.Errorf("an event behind the end: %s\n%s", ev.Data, stream)
		}
		if string(ev.Data) == "[DONE]" {
			g.done++
			continue
		}
		g.events++
		g.hear(t, ev.Data)
	}
	if (g.code != "") == (g.done > 0) || g.code != "" && len(g.finish) > 0 || g.code == "" && len(g.finish) != 1 {
		t.Errorf("not exactly one ending: %d finish reasons, %d [DONE], error %q\n%s", len(g.finish), g.done, g.code, stream)
	}
	g.finish = append(g.finish, "")
	return g
}

func (g *told) hear(t *testing.T, data []byte) {
	t.Helper()
	var c heardChunk
	if err := json.Unmarshal(data, &c); err != nil {
		t.Errorf("%v in %q", err, data)
	}
	if c.Error != nil {
		g.code = c.Error.Code
		return
	}
	g.ids[c.ID], g.models[c.Model], g.created[c.Created], g.prints[c.Print] = true, true, true, true
	for _, choice := range c.Choices {
		if choice.Delta.Content != nil {
			g.text += *choice.Delta.Content
		}
		if choice.Text != nil {
			g.text += *choice.Text
		}
		g.thoughts += choice.Delta.Reasoning
		for _, call := range choice.Delta.ToolCalls {
			g.tools += call.Function.Arguments
		}
		if choice.Finish != nil {
			g.finish = append(g.finish, *choice.Finish)
		}
	}
	if c.Usage != nil {
		g.usage = c.Usage.Output
	}
	if c.Note != nil {
		g.noted = true
		if err := json.Unmarshal(c.Note, &g.note); err != nil {
			t.Error(err)
		}
	}
}

// constant reports whether the head never changed.
func (g *told) constant() bool {
	return len(g.ids) == 1 && len(g.models) == 1 && len(g.created) == 1 && len(g.prints) == 1
}
