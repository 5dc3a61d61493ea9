package wire_test

import (
	"strings"
	"testing"

	"backstop/sse"
	"backstop/wire"
)

// What of an answer no other dialect has a word for is named, in bodies and in
// streams; the rest of it is told.
func TestWhatOfAnAnswerIsLostIsNamed(t *testing.T) {
	cases := map[string]struct{ from, body, stream, lost string }{
		"annotations of a chat": {
			"openai",
			`{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"seen","refusal":null,"annotations":[{"type":"url_citation"}],"audio":null,"x":[],"y":{},"z":""},"logprobs":null,"finish_reason":"stop"}]}`,
			"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"seen\"}}]}\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\",\"annotations\":[{\"type\":\"url_citation\"}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
			"answer.annotations",
		},
		"what a vendor made up": {
			"openai",
			`{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"seen","videos":[{}],"chart":{"a":1},"` + strings.Repeat("x", 99) + `":"long"},"finish_reason":"stop"}]}`,
			"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"seen\",\"videos\":[{}],\"chart\":{\"a\":1}},\"finish_reason\":\"stop\"}]}\n\n",
			"answer.videos answer.chart",
		},
		"citations of Anthropic's": {
			"anthropic",
			`{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"seen","citations":[{"type":"char_location"}]},{"type":"text","text":"","citations":null}],"stop_reason":"end_turn"}`,
			"data: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"content\":[]}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\",\"citations\":[]}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"citations_delta\",\"citation\":{\"type\":\"char_location\"}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"seen\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
			"answer.citations",
		},
		"where Gemini has it from": {
			"gemini",
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"seen"}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["q"]},"citationMetadata":{},"safetyRatings":[{}],"avgLogprobs":-1}]}`,
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"seen\"}]},\"citationMetadata\":{}}],\"responseId\":\"r\"}\n\ndata: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"\",\"thoughtSignature\":\"c2ln\"}]},\"finishReason\":\"STOP\",\"groundingMetadata\":{\"webSearchQueries\":[\"q\"]}}],\"responseId\":\"r\"}\n\n",
			"answer.groundingMetadata",
		},
		"a search of Responses'": {
			"responses",
			`{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"web_search_call","id":"w","status":"completed"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"seen","annotations":[{"type":"url_citation"}],"logprobs":[]}]}]}`,
			"data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"output\":[]}}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"web_search_call\",\"id\":\"w\"}}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"seen\",\"annotations\":[{\"type\":\"url_citation\"}]}]}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}}\n\n",
			"answer.web_search_call answer.annotations",
		},
	}
	for name, lost := range map[string]string{
		"a picture of Gemini's": "answer.inlineData", "code that Gemini ran": "answer.executableCode", "images of a chat": "answer.images",
		"a picture in the content of a chat": "answer.image_url", "sound": "answer.audio", "a tool that Anthropic's vendor ran": "answer.server_tool_use",
	} {
		c := foreign[name]
		cases[name] = struct{ from, body, stream, lost string }{c.from, strings.Replace(c.body, "%s", c.text, 1), strings.Replace(c.stream, "%s", c.piece, 1), lost}
	}
	for name, c := range cases {
		for to := range rooms {
			if to == c.from {
				continue
			}
			whole, lost, ok := wire.Translate(rooms[c.from], rooms[to], []byte(c.body), head)
			if !ok || !strings.Contains(string(whole), "seen") || strings.Join(lost, " ") != c.lost {
				t.Errorf("%s to %s: %q, want %q; %s", name, to, lost, c.lost, whole)
			}
			r := &wire.Request{Op: wire.Chat, Stream: true, UsageOn: true, Dialect: rooms[to].Dialect()}
			w := wire.NewBridge(rooms[c.from], rooms[to], head).Writer(rooms[to].Writer(r))
			for list := sse.NewReader(strings.NewReader(c.stream), 0); ; {
				ev, err := list.Next()
				if err != nil {
					break
				}
				w.Event(ev, nil)
			}
			if got := w.(wire.Loser).Lost(); strings.Join(got, " ") != c.lost {
				t.Errorf("%s to %s, streamed: %q, want %q", name, to, got, c.lost)
			}
		}
	}
}

// What an upstream makes up does not grow without bound.
func TestLossesAreBounded(t *testing.T) {
	var lost wire.Lost
	for i := range 1000 {
		lost.Note(strings.Repeat("x", i))
		lost.Note("x")
	}
	if len(lost) > 64 {
		t.Errorf("%d names", len(lost))
	}
}
