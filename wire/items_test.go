package wire

import (
	"strings"
	"testing"
)

const answerOfTwo = `{"id":"resp_1","object":"response","output":[ {"id":"rs_1","type":"reasoning","summary":[]}, {"type":"message"},{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}`

func TestTheItemsOfAnAnswerAreThoseWithAnID(t *testing.T) {
	for data, want := range map[string]string{
		answerOfTwo: "rs_1 msg_1",
		`{"type":"response.completed","response":` + answerOfTwo + `}`: "rs_1 msg_1",
		`{"id":"chatcmpl_1","object":"chat.completion"}`:               "",
		`{"object":"response","output":{"id":"x"}}`:                    "",
		`{"object":"response","output":[{"id":7},"x",{"id":""}]}`:      "",
		`{"object":"response","output":[`:                              "",
	} {
		var got []string
		for _, item := range OutputItems([]byte(data)) {
			got = append(got, item.ID)
			if !ValidJSON(item.Raw) || !strings.Contains(string(item.Raw), `"`+item.ID+`"`) {
				t.Errorf("%s is %s", item.ID, item.Raw)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", data, got, want)
		}
	}
}

func TestReferencesAreExchangedForTheirItems(t *testing.T) {
	items := map[string]string{"a": `{"id":"a","type":"message"}`, "b": `{"id":"b","type":"reasoning"}`}
	for name, c := range map[string]struct {
		body, want string
		ok         bool
	}{
		"one among others":   {`{"model":"m", "input":[{"role":"user"}, {"type":"item_reference","id":"a"} ,{"id":"b"}],"x":1}`, `{"model":"m", "input":[{"role":"user"}, {"id":"a","type":"message"} ,{"id":"b","type":"reasoning"}],"x":1}`, true},
		"the same one twice": {`{"input":[{"id":"a"},{"id":"a"}]}`, `{"input":[{"id":"a","type":"message"},{"id":"a","type":"message"}]}`, true},
		"one is not known":   {`{"input":[{"id":"a"},{"id":"c"}]}`, "", false},
		"there is none":      {`{"input":[{"role":"user"}]}`, "", false},
		"a text":             {`{"input":"x"}`, "", false},
		"no input":           {`{}`, "", false},
	} {
		got, ok := Resolve([]byte(c.body), 1000, func(id string) []byte { return []byte(items[id]) })
		if ok != c.ok || string(got) != c.want {
			t.Errorf("%s: %v %s", name, ok, got)
		}
	}
}

func TestReferencesDoNotMakeACallLargerThanItsBound(t *testing.T) {
	item := []byte(`{"id":"a","text":"` + strings.Repeat("x", 1000) + `"}`)
	body := `{"input":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a"},`, 100), ",") + `]}`
	finds := 0
	if _, ok := Resolve([]byte(body), 10000, func(string) []byte { finds++; return item }); ok || finds > 12 {
		t.Errorf("%v after %d", ok, finds)
	}
}

func TestWhatAnotherUpstreamIssuedLosesItsName(t *testing.T) {
	foreign := func(id string) bool { return strings.HasPrefix(id, "f") }
	for body, want := range map[string]string{
		`{"input":[{"id":"f1","type":"reasoning"},{"type":"function_call","id":"f2","call_id":"c"},{"id":"a"},{"role":"user"}],"x":1}`: `{"input":[{"type":"function_call","call_id":"c"},{"id":"a"},{"role":"user"}],"x":1}`,
		`{"input":[{"id":"a"}, {"id":"b"}]}`:         `{"input":[{"id":"a"}, {"id":"b"}]}`,
		`{"input":"f1"}`:                             `{"input":"f1"}`,
		`{"input":[{"id":"f1"}]}`:                    `{"input":[{}]}`,
		`{"input":[{"id":"f1","type":"reasoning"}]}`: `{"input":[]}`,
	} {
		if got := string(Unbind([]byte(body), foreign)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func FuzzItems(f *testing.F) {
	f.Add([]byte(`{"input":[{"type":"item_reference","id":"i"},{"id":"f","type":"reasoning"},{"id":"g","role":"user"}]}`))
	f.Add([]byte(answerOfTwo))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, item := range OutputItems(b) {
			if !ValidJSON(item.Raw) {
				t.Errorf("%s of %s", item.Raw, b)
			}
		}
		if !ValidJSON(b) {
			return
		}
		if out, ok := Resolve(b, 1<<20, func(string) []byte { return []byte(`{"role":"user"}`) }); ok && !ValidJSON(out) {
			t.Errorf("%s became %s", b, out)
		}
		if out := Unbind(b, func(string) bool { return true }); !ValidJSON(out) {
			t.Errorf("%s became %s", b, out)
		}
	})
}
