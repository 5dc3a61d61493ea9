package cases

import "fmt"

// responsesFixture is the Responses form, with an upstream that serves it itself.
var responsesFixture = fixture{
	name: "responses", config: "vendor: openai\n", place: "/v1", keys: "Authorization",
	path: func(bool) string { return "/v1/responses" },
	body: func(stream bool) string { return asks(stream, `"input":"hi"`) },
	head: responsesHead,
	says: func(_ voice, pieces ...string) []string {
		list := []string{named("response.output_item.added", `,"sequence_number":2,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`),
			named("response.content_part.added", `,"sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`)}
		for i, p := range pieces {
			list = append(list, named("response.output_text.delta", `,"sequence_number":%d,"item_id":"msg_1","output_index":0,"content_index":0,"delta":%s`, 4+i, quote(p)))
		}
		return list
	},
	ends: func(v voice, text, reason string) []string {
		const n = 1000 // numbers only grow
		item := messageItem(text)
		return []string{named("response.output_text.done", `,"sequence_number":%d,"item_id":"msg_1","output_index":0,"content_index":0,"text":%s`, n, quote(text)),
			named("response.content_part.done", `,"sequence_number":%d,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":%s,"annotations":[]}`, n+1, quote(text)),
			named("response.output_item.done", `,"sequence_number":%d,"output_index":0,"item":%s`, n+2, item),
			responseEnd(v, item, reason, n+3)}
	},
	calls: func(v voice, id, arguments string) []string {
		item := fmt.Sprintf(`{"id":"fc_1","type":"function_call","status":"completed","call_id":%s,"name":"look","arguments":%s}`, quote(id), quote(arguments))
		return append(responsesHead(v),
			named("response.output_item.added", `,"sequence_number":2,"output_index":0,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":%s,"name":"look","arguments":""}`, quote(id)),
			named("response.function_call_arguments.delta", `,"sequence_number":3,"item_id":"fc_1","output_index":0,"delta":%s`, quote(arguments)),
			named("response.function_call_arguments.done", `,"sequence_number":4,"item_id":"fc_1","output_index":0,"arguments":%s`, quote(arguments)),
			named("response.output_item.done", `,"sequence_number":5,"output_index":0,"item":%s`, item),
			responseEnd(v, item, "completed", 6))
	},
	whole: func(v voice, text, reason string) string {
		return responseOf(v, statusOf(reason), messageItem(text), `{"input_tokens":10,"output_tokens":5,"total_tokens":15}`, reason)
	},
	stop: "completed", length: "max_output_tokens", filter: "content_filter",
	ping: ": ping", busy: named("error", `,"sequence_number":9,"code":"server_error","message":"m","param":null`),
	busyBody: `{"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`,
	heard:    heardResponses, read: readResponses, fault: faultOfChat,
}

func responsesHead(v voice) []string {
	answer := responseOf(v, "in_progress", "", "null")
	return []string{named("response.created", `,"sequence_number":0,"response":%s`, answer), named("response.in_progress", `,"sequence_number":1,"response":%s`, answer)}
}

func messageItem(text string) string {
	return `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":` + quote(text) + `,"annotations":[]}]}`
}

// statusOf is the status of an answer that ended for a reason.
func statusOf(reason string) string {
	if reason == "completed" {
		return reason
	}
	return "incomplete"
}

func responseOf(v voice, status, items, usage string, reason ...string) string {
	details := "null"
	if status == "incomplete" {
		details = `{"reason":"` + reason[0] + `"}`
	}
	return fmt.Sprintf(`{"id":%q,"object":"response","created_at":1,"status":%q,"error":null,"incomplete_details":%s,"model":%q,"output":[%s],"usage":%s}`,
		v.id, status, details, v.model, items, usage)
}

func responseEnd(v voice, item, reason string, number int) string {
	status := statusOf(reason)
	return named("response."+status, `,"sequence_number":%d,"response":%s`, number, responseOf(v, status, item, `{"input_tokens":10,"output_tokens":2,"total_tokens":12}`, reason))
}
