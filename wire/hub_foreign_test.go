package wire_test

import (
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// foreign are answers that hold what only their dialect can tell: as a body, and
// as events. %s stands where a text may come besides.
var foreign = map[string]struct{ from, body, stream, text, piece string }{
	"a picture of Gemini's": {
		"gemini",
		`{"candidates":[{"content":{"role":"model","parts":[%s{"inlineData":{"mimeType":"image/png","data":"aGk="}}]},"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r"}`,
		"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[%s{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"aGk=\"}}]},\"index\":0}],\"responseId\":\"r\"}\n\ndata: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[]},\"finishReason\":\"STOP\",\"index\":0}],\"responseId\":\"r\"}\n\n",
		`{"text":"seen"},`, `{"text":"seen"},`,
	},
	"code that Gemini ran": {
		"gemini",
		`{"candidates":[{"content":{"role":"model","parts":[%s{"executableCode":{"language":"PYTHON","code":"1"}}]},"finishReason":"STOP","index":0}]}`,
		"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[%s{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"1\"}}]},\"finishReason\":\"STOP\",\"index\":0}]}\n\n",
		`{"text":"seen"},`, `{"text":"seen"},`,
	},
	"images of a chat": {
		"openai",
		`{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%s","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},"finish_reason":"stop"}]}`,
		"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"%s\",\"images\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,aGk=\"}}]}}]}\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"seen", "seen",
	},
	"a picture in the content of a chat": {
		"openai",
		`{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":[%s{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},"finish_reason":"stop"}]}`,
		"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":[%s{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,aGk=\"}}]}}]}\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		`{"type":"text","text":"seen"},`, `{"type":"text","text":"seen"},`,
	},
	"sound": {
		"openai",
		`{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"%s","audio":{"id":"a","data":"aGk=","transcript":"hi"}},"finish_reason":"stop"}]}`,
		"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\",\"audio\":{\"id\":\"a\",\"data\":\"aGk=\"}}}]}\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"seen", "seen",
	},
	"a tool that Anthropic's vendor ran": {
		"anthropic",
		`{"id":"1","type":"message","role":"assistant","model":"m","content":[%s{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":"x"}}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
		"data: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"content\":[]}}\n\n%sdata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"q\\\":1}\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		`{"type":"text","text":"seen"},`,
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"seen\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
	},
}

// What only one dialect can tell is no answer to the caller of another: an
// empty 200 would be all it gets. A text beside it is one.
func TestAnAnswerThatCannotBeToldIsNone(t *testing.T) {
	for name, c := range foreign {
		for to := range rooms {
			for _, talks := range []bool{false, true} {
				text, piece := "", ""
				if talks {
					text, piece = c.text, c.piece
				}
				reply := &wire.Reply{Status: 200, Dialect: rooms[c.from].Dialect(), Caller: rooms[to].Dialect(), Surface: wire.SurfaceBody}
				reply.Body = []byte(strings.Replace(c.body, "%s", text, 1))
				good := talks || to == c.from
				if o := rooms[c.from].JudgeBody(&wire.Request{Op: wire.Chat}, reply); (o.Class == backstop.OK) != good || !good && (o.Kind != backstop.KindBlank || !o.NextTier) {
					t.Errorf("%s to %s, %v: %+v", name, to, talks, o)
				}
				out, o := streamed(t, c.from, to, strings.Replace(c.stream, "%s", piece, 1))
				if (o.Class == backstop.OK) != good || !good && (o.Kind != backstop.KindBlank || !o.NextTier) {
					t.Errorf("%s to %s, %v, streamed: %+v", name, to, talks, o)
				}
				if to == c.from || !talks {
					continue
				}
				whole, _, ok := wire.Translate(rooms[c.from], rooms[to], reply.Body, head)
				for _, got := range []string{out, string(whole)} {
					if !ok || !strings.Contains(got, "seen") || strings.Contains(got, "aGk=") || strings.Contains(got, "tool_") && to != "gemini" && strings.Contains(got, `"q`) {
						t.Errorf("%s to %s: %s", name, to, got)
					}
				}
			}
		}
	}
}
