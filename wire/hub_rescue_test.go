package wire_test

import (
	"strings"
	"testing"

	"backstop/sse"
	"backstop/wire"
)

// opened and resumed are the begin of a stream that broke off after "Hello",
// and the stream of an upstream that says "Hello world", by dialect.
var opened = map[string][]string{
	"gemini": {`{"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"index":0}],"modelVersion":"first","responseId":"c1"}`},
	"openai": {`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"first","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}`},
	"anthropic": {
		`{"type":"message_start","message":{"id":"c1","type":"message","role":"assistant","model":"first","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}`,
	},
	"responses": {
		`{"type":"response.created","sequence_number":0,"response":{"id":"c1","object":"response","created_at":1,"status":"in_progress","model":"first","output":[]}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
		`{"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}}`,
		`{"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`{"type":"response.content_part.added","sequence_number":4,"output_index":1,"content_index":0,"item_id":"msg_1","part":{"type":"output_text","annotations":[],"text":""}}`,
		`{"type":"response.output_text.delta","sequence_number":5,"output_index":1,"content_index":0,"item_id":"msg_1","delta":"Hello"}`,
	},
}

var resumed = map[string][]string{
	"gemini": {
		`{"candidates":[{"content":{"parts":[{"text":"so","thought":true}],"role":"model"}}],"modelVersion":"second","responseId":"c2"}`,
		`{"candidates":[{"content":{"parts":[{"text":"Hello world"}],"role":"model"}}],"modelVersion":"second","responseId":"c2"}`,
		`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2VjcmV0"}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3},"modelVersion":"second","responseId":"c2"}`,
	},
	"openai": {
		`{"id":"c2","created":2,"model":"second","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"so"}}]}`,
		`{"id":"c2","created":2,"model":"second","choices":[{"index":0,"delta":{"content":"Hello world"}}]}`,
		`{"id":"c2","created":2,"model":"second","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`,
		`[DONE]`,
	},
	"anthropic": {
		`{"type":"message_start","message":{"id":"c2","type":"message","role":"assistant","model":"second","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello world"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}`,
		`{"type":"message_stop"}`,
	},
	"responses": {
		`{"type":"response.created","sequence_number":0,"response":{"id":"c2","object":"response","created_at":2,"status":"in_progress","model":"second","output":[]}}`,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs_c2","type":"reasoning","summary":[]}}`,
		`{"type":"response.reasoning_summary_part.added","sequence_number":2,"output_index":0,"summary_index":0,"item_id":"rs_c2","part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_text.delta","sequence_number":3,"output_index":0,"summary_index":0,"item_id":"rs_c2","delta":"so"}`,
		`{"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"id":"rs_c2","type":"reasoning","summary":[{"type":"summary_text","text":"so"}]}}`,
		`{"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{"id":"msg_c2","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`{"type":"response.content_part.added","sequence_number":6,"output_index":1,"content_index":0,"item_id":"msg_c2","part":{"type":"output_text","annotations":[],"text":""}}`,
		`{"type":"response.output_text.delta","sequence_number":7,"output_index":1,"content_index":0,"item_id":"msg_c2","delta":"Hello world"}`,
		`{"type":"response.output_text.done","sequence_number":8,"output_index":1,"content_index":0,"item_id":"msg_c2","text":"Hello world"}`,
		`{"type":"response.output_item.done","sequence_number":9,"output_index":1,"item":{"id":"msg_c2","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hello world"}]}}`,
		`{"type":"response.completed","sequence_number":10,"response":{"id":"c2","object":"response","created_at":2,"status":"completed","model":"second","output":[{"id":"msg_c2","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hello world"}]}],"usage":{"input_tokens":9,"output_tokens":3}}}`,
	},
}

func TestAStreamIsTakenOverByAnUpstreamOfAnyDialect(t *testing.T) {
	for caller := range rooms {
		for rescuer := range rooms {
			t.Run(rescuer+" for a caller of "+caller, func(t *testing.T) {
				r := &wire.Request{Op: wire.Chat, Stream: true, UsageOn: true, Dialect: rooms[caller].Dialect()}
				base := rooms[caller].Writer(r)
				var out strings.Builder
				for _, data := range opened[caller] {
					out.Write(base.Event(&sse.Event{Data: []byte(data)}, &wire.Signal{Kind: wire.Token}))
				}
				w := base
				if rescuer != caller {
					w = wire.NewBridge(rooms[rescuer], rooms[caller], head).Writer(base)
				}
				g := w.(wire.Grafter)
				g.Hold()
				read := rooms[rescuer].Reader(r, &wire.Reply{Status: 200, Dialect: rooms[rescuer].Dialect()})
				var text []byte
				joined := false
				for _, data := range resumed[rescuer] {
					ev := &sse.Event{Data: []byte(data)}
					sig := read.Event(ev)
					text = read.(wire.TextReader).AppendText(text)
					out.Write(g.Graft(ev, &sig, false))
					if rest, ok := strings.CutPrefix(string(text), "Hello"); ok && rest != "" && !joined {
						joined = true
						out.Write(g.Text([]byte(rest)))
					}
				}
				if !read.(wire.TextReader).TextOnly() {
					t.Error("there is nothing but text")
				}
				out.Write(w.Close(&wire.Note{Rescued: true}))
				stream := out.String()
				sum := rooms[caller].Aggregator(r)
				feed(t, sum, stream)
				said, finish, ok := rooms[caller].Content(sum.Body())
				if said != "Hello world" || finish != "stop" || !ok {
					t.Errorf("%q %q %v\n%s", said, finish, ok, stream)
				}
				if strings.Contains(stream, `"so"`) || strings.Contains(stream, "c2") || strings.Count(stream, `"rescued":true`) != 1 {
					t.Errorf("%s", stream)
				}
			})
		}
	}
}
