package sdk

import (
	"encoding/json"
	"strings"
)

// exchange is a tool's call and its result as an upstream was told of them.
type exchange struct {
	callID, resultID string
	callName         string
	arguments        string
	result           string
}

// isLoop sees to it that an upstream of the trial's kind was told of the call
// and its result, in its own words and tied to each other.
func (c *trial) isLoop(body []byte, arguments string) {
	c.Helper()
	e := map[kind]func([]byte) exchange{aChat: toldChat, aResponse: toldResponses, aMessage: toldMessages, aGemini: toldGemini}[c.k](body)
	if e.callID == "" || e.callID != e.resultID {
		c.Errorf("the call is %q, its result belongs to %q: %s", e.callID, e.resultID, body)
	}
	c.is("name of the call", e.callName, toolName)
	c.is("arguments of the call", compact(e.arguments), compact(arguments))
	if !strings.Contains(e.result, "sunny and 21 degrees") {
		c.Errorf("the result is lost: %s", body)
	}
}

func toldChat(body []byte) (e exchange) {
	var m struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ResultOf  string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	_ = json.Unmarshal(body, &m) // what is not there is empty, and fails
	for _, turn := range m.Messages {
		for _, call := range turn.ToolCalls {
			e.callID, e.callName, e.arguments = call.ID, call.Function.Name, call.Function.Arguments
		}
		if turn.Role == "tool" {
			e.resultID, e.result = turn.ResultOf, string(turn.Content)
		}
	}
	return e
}

func toldResponses(body []byte) (e exchange) {
	var m struct {
		Input []struct {
			Type, Name, Arguments string
			CallID                string `json:"call_id"`
			Output                json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &m)
	for _, item := range m.Input {
		switch item.Type {
		case "function_call":
			e.callID, e.callName, e.arguments = item.CallID, item.Name, item.Arguments
		case "function_call_output":
			e.resultID, e.result = item.CallID, string(item.Output)
		}
	}
	return e
}

func toldMessages(body []byte) (e exchange) {
	var m struct {
		Messages []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(body, &m)
	for _, turn := range m.Messages {
		var blocks []struct {
			Type, ID, Name string
			Input, Content json.RawMessage
			ResultOf       string `json:"tool_use_id"`
		}
		_ = json.Unmarshal(turn.Content, &blocks) // a text otherwise
		for _, block := range blocks {
			switch block.Type {
			case "tool_use":
				e.callID, e.callName, e.arguments = block.ID, block.Name, string(block.Input)
			case "tool_result":
				e.resultID, e.result = block.ResultOf, string(block.Content)
			}
		}
	}
	return e
}

// toldGemini takes the name for the id where there is none: that is what ties
// the two there.
func toldGemini(body []byte) (e exchange) {
	var m struct {
		Contents []struct {
			Parts []struct {
				FunctionCall *struct {
					ID, Name string
					Args     json.RawMessage
				}
				FunctionResponse *struct {
					ID, Name string
					Response json.RawMessage
				}
			}
		}
	}
	_ = json.Unmarshal(body, &m)
	for _, turn := range m.Contents {
		for _, part := range turn.Parts {
			if call := part.FunctionCall; call != nil {
				e.callID, e.callName, e.arguments = call.ID+call.Name, call.Name, string(call.Args)
			}
			if result := part.FunctionResponse; result != nil {
				e.resultID, e.result = result.ID+result.Name, string(result.Response)
			}
		}
	}
	return e
}
