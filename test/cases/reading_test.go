package cases

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// What callers of each dialect make of an answer, strictly: an event out of
// its order, a name that does not fit or an end without a terminal is broken.

func readChat(body []byte, r *reading) {
	var f chunkForm
	if err := json.Unmarshal(body, &f); err != nil {
		r.broken("the body is no JSON: %v: %.200s", err, body)
		return
	}
	r.add(f)
	if len(f.Choices) == 0 || f.Error != nil || r.finish == "" {
		r.broken("a 200 without choices or finish reason: %.300s", body)
	}
}

// faultOfChat reads an error object of the OpenAI forms.
func faultOfChat(body []byte, _ int) (errorForm, error) {
	var f struct{ Error map[string]json.RawMessage }
	var e struct{ Error errorForm }
	if err := json.Unmarshal(body, &f); err != nil {
		return errorForm{}, fmt.Errorf("the error is no object: %w", err)
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return errorForm{}, err
	}
	for _, name := range []string{"message", "type", "code"} {
		raw, ok := f.Error[name]
		isText := len(raw) > 0 && raw[0] == '"'
		if !ok || !isText && (name == "message" || string(raw) != "null") {
			return e.Error, fmt.Errorf("error.%s is %s", name, raw)
		}
	}
	return e.Error, nil
}

func faultOfMessages(body []byte, _ int) (errorForm, error) {
	var e struct {
		Type  string
		Error errorForm
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e.Error, err
	}
	if e.Type != "error" || e.Error.Type == nil || !strings.HasSuffix(*e.Error.Type, "_error") && *e.Error.Type != "request_too_large" {
		return e.Error, fmt.Errorf("no error of this dialect: %s", body)
	}
	return e.Error, nil
}

func faultOfGemini(body []byte, status int) (errorForm, error) {
	var e struct {
		Error struct {
			Code            int
			Message, Status string
			Details         []struct {
				Kind   string `json:"@type"`
				Reason string
			}
		}
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return errorForm{}, err
	}
	f := errorForm{Message: e.Error.Message, Type: &e.Error.Status}
	for _, d := range e.Error.Details {
		if strings.HasSuffix(d.Kind, "ErrorInfo") {
			f.Code = &d.Reason
		}
	}
	if e.Error.Status == "" || e.Error.Code < 400 || status != 0 && e.Error.Code != status {
		return f, fmt.Errorf("status %d and error %s", status, body)
	}
	return f, nil
}

// note adds what an answer says of itself.
func (r *reading) note(id, model string, tail map[string]any) {
	r.add(chunkForm{ID: id, Model: model, Backstop: tail})
}

// messagesForm is an event, or a whole answer, of the Anthropic dialect.
type messagesForm struct {
	Type    string
	Index   int
	Message *messagesAnswer
	Block   struct {
		Type, Text, ID, Name string
	} `json:"content_block"`
	Delta struct {
		Type, Text, Thinking string
		Arguments            string `json:"partial_json"`
		Reason               string `json:"stop_reason"`
	}
	Usage    *messagesUsage
	Backstop map[string]any `json:"x_backstop"`
}

type messagesUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

type messagesAnswer struct {
	ID, Type, Role, Model string
	Content               []struct {
		Type, Text, Thinking, ID, Name string
		Input                          json.RawMessage
	}
	Reason   string `json:"stop_reason"`
	Usage    messagesUsage
	Backstop map[string]any `json:"x_backstop"`
}

func readMessages(body []byte, r *reading) {
	var m messagesAnswer
	if err := json.Unmarshal(body, &m); err != nil {
		r.broken("the body is no JSON: %v: %.200s", err, body)
		return
	}
	r.note(m.ID, m.Model, m.Backstop)
	for _, p := range m.Content {
		r.said.WriteString(p.Text)
		r.think += p.Thinking
		if p.Type == "tool_use" {
			r.tool(p.ID, p.Name, string(p.Input))
		}
	}
	r.finish = m.Reason
	r.spent(m.Usage.Input, m.Usage.Output)
	if m.Type != "message" || m.Role != "assistant" || m.ID == "" || m.Model == "" || m.Reason == "" {
		r.broken("a 200 that is no message: %.300s", body)
	}
}

func (r *reading) tool(id, name, arguments string) {
	t := toolForm{ID: id, Index: len(r.calls)}
	t.Function.Name, t.Function.Arguments = name, arguments
	r.calls = append(r.calls, t)
}

func (r *reading) spent(input, output int) {
	r.usages = append(r.usages, usageForm{input, output, input + output})
}

func heardMessages(a *answer, r *reading) {
	open, next, began, over := -1, 0, false, false
	input := 0
	for _, e := range a.events() {
		if e.data == "" {
			r.comment++
			continue
		}
		var f messagesForm
		if err := json.Unmarshal([]byte(e.data), &f); err != nil || f.Type != e.name {
			r.broken("event %q: %v: %.100s", e.name, err, e.data)
			continue
		}
		if over || r.fault != nil || !began && f.Type != "message_start" && f.Type != "error" && f.Type != "ping" {
			r.broken("event %s stands at the wrong place: %.100s", f.Type, e.data)
		}
		if f.Backstop != nil {
			r.tail = f.Backstop
		}
		switch f.Type {
		case "message_start":
			if began || f.Message == nil || f.Message.Role != "assistant" {
				r.broken("a message_start: %.200s", e.data)
				return
			}
			began, input = true, f.Message.Usage.Input
			r.note(f.Message.ID, f.Message.Model, nil)
		case "content_block_start":
			if open >= 0 || f.Index != next {
				r.broken("block %d begins while %d is open, want %d", f.Index, open, next)
			}
			open = f.Index
			next++
			r.said.WriteString(f.Block.Text)
			if f.Block.Type == "tool_use" {
				r.tool(f.Block.ID, f.Block.Name, "")
			}
		case "content_block_delta":
			if f.Index != open {
				r.broken("a delta of block %d while %d is open", f.Index, open)
			}
			r.said.WriteString(f.Delta.Text)
			r.think += f.Delta.Thinking
			if n := len(r.calls); f.Delta.Arguments != "" && n > 0 {
				r.calls[n-1].Function.Arguments += f.Delta.Arguments
			}
		case "content_block_stop":
			if f.Index != open {
				r.broken("block %d ends while %d is open", f.Index, open)
			}
			open = -1
		case "message_delta":
			if r.finish = f.Delta.Reason; f.Usage != nil {
				r.spent(max(input, f.Usage.Input), f.Usage.Output)
			}
		case "message_stop":
			over = true
		case "error":
			r.failed([]byte(e.data), faultOfMessages)
		case "ping":
		default:
			r.broken("an event of no name: %s", f.Type)
		}
	}
	if over && open >= 0 {
		r.broken("block %d is never ended", open)
	}
	r.conclude(a, over)
}

// failed takes an error in a stream.
func (r *reading) failed(body []byte, read func([]byte, int) (errorForm, error)) {
	f, err := read(body, 0)
	if err != nil || f.Message == "" {
		r.broken("an error frame: %v: %s", err, body)
	}
	r.fault = &f
}

// conclude says what a stream was: over is that its terminal event was seen.
func (r *reading) conclude(a *answer, over bool) {
	switch {
	case r.kind == "broken":
	case over && r.finish != "":
		r.kind = "success"
	case over:
		r.broken("a terminal without a finish reason")
	case r.fault != nil && r.finish == "":
		r.kind = "in-band"
	case r.fault != nil:
		r.broken("an error after the finish reason %q", r.finish)
	default:
		r.broken("it just ends: %.300q", a.body())
	}
}

type geminiForm struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text    string
				Thought bool
				Call    *struct {
					ID, Name string
					Args     json.RawMessage
				} `json:"functionCall"`
			}
		}
		Reason string `json:"finishReason"`
	}
	Feedback *struct {
		Reason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Input  int `json:"promptTokenCount"`
		Output int `json:"candidatesTokenCount"`
	} `json:"usageMetadata"`
	Model    string         `json:"modelVersion"`
	ID       string         `json:"responseId"`
	Error    any            `json:"error"`
	Backstop map[string]any `json:"x_backstop"`
}

func (r *reading) addGemini(f geminiForm) {
	r.note(f.ID, f.Model, f.Backstop)
	for _, c := range f.Candidates {
		for _, p := range c.Content.Parts {
			switch {
			case p.Call != nil:
				r.tool(p.Call.ID, p.Call.Name, string(p.Call.Args))
			case p.Thought:
				r.think += p.Text
			default:
				r.said.WriteString(p.Text)
			}
		}
		if c.Reason != "" {
			r.finish = c.Reason
		}
	}
	if f.Feedback != nil && f.Feedback.Reason != "" {
		r.finish = f.Feedback.Reason
	}
	if f.Usage != nil {
		r.usages = nil // each chunk repeats it
		r.spent(f.Usage.Input, f.Usage.Output)
	}
}

func readGemini(body []byte, r *reading) {
	var f geminiForm
	if err := json.Unmarshal(body, &f); err != nil {
		r.broken("the body is no JSON: %v: %.200s", err, body)
		return
	}
	r.addGemini(f)
	if f.Error != nil || r.finish == "" {
		r.broken("a 200 that is no answer: %.300s", body)
	}
}

func heardGemini(a *answer, r *reading) {
	for _, e := range a.events() {
		if e.data == "" {
			r.comment++
			continue
		}
		var f geminiForm
		if err := json.Unmarshal([]byte(e.data), &f); err != nil || e.name != "" {
			r.broken("event %q: %v: %.100s", e.name, err, e.data)
			continue
		}
		switch {
		case r.fault != nil:
			r.broken("an event after the last one: %.100s", e.data)
		case f.Error != nil:
			r.failed([]byte(e.data), faultOfGemini)
		default:
			r.addGemini(f)
		}
	}
	r.conclude(a, r.fault == nil && r.finish != "")
}

type responseForm struct {
	ID, Object, Status, Model string
	Output                    []struct {
		Type, Name, Arguments string
		CallID                string `json:"call_id"`
		Content               []struct{ Type, Text, Refusal string }
		Summary               []struct{ Text string }
	}
	Details *struct{ Reason string } `json:"incomplete_details"`
	Usage   *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	}
	Backstop map[string]any `json:"x_backstop"`
}

func (f *responseForm) addTo(r *reading) (text string) {
	r.note(f.ID, f.Model, f.Backstop)
	if r.finish = f.Status; f.Status == "incomplete" && f.Details != nil {
		r.finish = f.Details.Reason
	}
	for _, item := range f.Output {
		for _, p := range item.Content {
			text += p.Text + p.Refusal
		}
		for _, p := range item.Summary {
			r.think += p.Text
		}
		if item.Type == "function_call" {
			r.tool(item.CallID, item.Name, item.Arguments)
		}
	}
	if f.Usage != nil {
		r.spent(f.Usage.Input, f.Usage.Output)
	}
	return text
}

func readResponses(body []byte, r *reading) {
	var f responseForm
	if err := json.Unmarshal(body, &f); err != nil {
		r.broken("the body is no JSON: %v: %.200s", err, body)
		return
	}
	r.said.WriteString(f.addTo(r))
	if f.Object != "response" || f.ID == "" || r.finish != "completed" && r.finish != "max_output_tokens" && r.finish != "content_filter" {
		r.broken("a 200 that is no response: %.300s", body)
	}
}

func heardResponses(a *answer, r *reading) {
	last, over := -1, false
	arguments := map[int]string{}
	for _, e := range a.events() {
		if e.data == "" {
			r.comment++
			continue
		}
		var f struct {
			Type     string
			Number   *int `json:"sequence_number"`
			Item     int  `json:"output_index"`
			Delta    string
			Response *responseForm
			Backstop map[string]any `json:"x_backstop"`
		}
		if err := json.Unmarshal([]byte(e.data), &f); err != nil || f.Type != e.name || f.Number == nil || *f.Number <= last {
			r.broken("event %q after number %d: %v: %.100s", e.name, last, err, e.data)
			continue
		}
		if last = *f.Number; over || r.fault != nil {
			r.broken("an event after the last one: %.100s", e.data)
		}
		if f.Backstop != nil {
			r.tail = f.Backstop
		}
		switch f.Type {
		case "response.output_text.delta", "response.refusal.delta":
			r.said.WriteString(f.Delta)
		case "response.function_call_arguments.delta":
			arguments[f.Item] += f.Delta
		case "response.created":
			r.note(f.Response.ID, f.Response.Model, nil)
		case "response.completed", "response.incomplete":
			if text := f.Response.addTo(r); text != r.said.String() {
				r.broken("the deltas say %q and the end %q", short(r.said.String()), short(text))
			}
			for i, item := range f.Response.Output {
				if item.Type == "function_call" && item.Arguments != arguments[i] {
					r.broken("the deltas have the arguments %q and the end %q", arguments[i], item.Arguments)
				}
			}
			over = true
		case "error":
			r.failed([]byte(e.data), faultInEvent)
		}
	}
	r.conclude(a, over)
}

// faultInEvent reads the error event of the Responses form: its members stand
// in it and, for who looks there, in an error object.
func faultInEvent(body []byte, status int) (errorForm, error) {
	var e struct{ Code, Message string }
	if err := json.Unmarshal(body, &e); err != nil || e.Code == "" || e.Message == "" {
		return errorForm{}, fmt.Errorf("no code or message: %v", err)
	}
	f, err := faultOfChat(body, status)
	if err == nil && (f.Code == nil || *f.Code != e.Code) {
		err = fmt.Errorf("the code is %s here and another there", strconv.Quote(e.Code))
	}
	return f, err
}
