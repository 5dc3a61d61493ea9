package wire

import (
	"fmt"
	"strings"
	"testing"
)

func TestReferencesAreFoundWhereverACallNamesThem(t *testing.T) {
	for body, want := range map[string]string{
		`{"input":"x"}`: "",
		`{"previous_response_id":"resp_1","input":"x"}`:               "previous_response_id=resp_1",
		`{"previous_response_id":null,"input":"x"}`:                   "",
		`{"conversation":"conv_1"}`:                                   "conversation=conv_1",
		`{"conversation":{"id":"conv_1"}}`:                            "conversation=conv_1",
		`{"background":true}`:                                         "background=",
		`{"background":false}`:                                        "",
		`{"input":[{"type":"item_reference","id":"msg_1"}]}`:          "input[0]=msg_1",
		`{"input":[{"id":"msg_1"},{"type":null,"id":"msg_2"}]}`:       "input[0]=msg_1 input[1]=msg_2",
		`{"input":[{"id":"msg_1","role":"assistant","content":"x"}]}`: "",
		`{"input":[{"id":"fc_1","type":"function_call"}]}`:            "",
		`{"input":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"input_file","file_id":"f1"}]}]}`:                                  "input[1].content[0].file_id=f1",
		`{"input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"},{"type":"input_image","file_id":"f2"}]}]}`: "input[0].output[1].file_id=f2",
		`{"input":[{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","file_id":"f3"}}]}`:                            "input[0].output.file_id=f3",
		`{"input":[{"type":"function_call_output","call_id":"c","output":"{\"file_id\":\"f4\"}"}]}`:                                                   "",
	} {
		var got []string
		for _, r := range References([]byte(body)) {
			got = append(got, r.Param+"="+r.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", body, got, want)
		}
	}
	long := `{"input":[` + strings.TrimSuffix(strings.Repeat(`{"type":"item_reference","id":"i"},`, 1000), ",") + `]}`
	if n := len(References([]byte(long))); n != maxReferences {
		t.Errorf("%d references", n)
	}
}

func TestIssuedIDsAreThoseOfTheAnswer(t *testing.T) {
	for data, want := range map[string]string{
		`{"id":"resp_1","object":"response"}`:                                        "[resp_1]",
		`{"type":"response.created","response":{"id":"resp_1","object":"response"}}`: "[resp_1]",
		`{"id":"resp_1","object":"response","conversation":{"id":"conv_1"}}`:         "[resp_1 conv_1]",
		`{"id":"chatcmpl_1","object":"chat.completion"}`:                             "[]",
		`{"type":"response.output_text.delta","delta":"x"}`:                          "[]",
		`{`: "[]",
	} {
		if got := fmt.Sprint(IssuedIDs([]byte(data))); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func FuzzReferences(f *testing.F) {
	f.Add([]byte(`{"previous_response_id":"r","conversation":{"id":"c"},"input":[{"type":"item_reference","id":"i","content":[{"file_id":"f"}]}]}`))
	f.Add([]byte(`{"response":{"object":"response","id":"r"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := len(References(b)); n > maxReferences+1 {
			t.Errorf("%d references", n)
		}
		if n := len(IssuedIDs(b)); n > 2 {
			t.Errorf("%d ids", n)
		}
	})
}
