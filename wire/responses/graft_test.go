package responses

import (
	"strings"
	"testing"

	"backstop/internal/testkit"
	"backstop/sse"
	"backstop/wire"
)

// takenOver is the caller's stream of an answer that breaks off in its text, or
// its reasoning, and that another upstream goes on with.
func takenOver(t *testing.T, first []string, text string, second []string) string {
	t.Helper()
	w := Room{}.Writer(nil).(*writer)
	var out strings.Builder
	for _, data := range first {
		out.Write(w.Event(&sse.Event{Data: []byte(data)}, nil))
	}
	w.Hold()
	out.Write(w.Text([]byte(text)))
	read := Room{}.Reader(&wire.Request{Stream: true}, nil)
	for _, data := range second {
		ev := &sse.Event{Data: []byte(data)}
		sig := read.Event(ev)
		out.Write(w.Graft(ev, &sig, true))
	}
	out.Write(w.Close(&wire.Note{Rescued: true}))
	checkCaller(t, []byte(out.String()), true)
	return out.String()
}

func TestAnotherUpstreamGoesOnWithAnAnswer(t *testing.T) {
	other := strings.NewReplacer("resp_1", "resp_2", "msg_1", "msg_2", "gpt-x", "qwen", "Hello", ", again", `" world\nevent: error"`, `"!"`)
	var second []string
	for _, data := range []string{world, msgOff,
		`{"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"id":"fc_2","type":"function_call","status":"in_progress","call_id":"c","name":"f","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","sequence_number":9,"output_index":1,"item_id":"fc_2","delta":"{}"}`,
		`{"type":"response.output_item.done","sequence_number":10,"output_index":1,"item":{"id":"fc_2","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{}"}}`, end} {
		second = append(second, other.Replace(data))
	}
	stream := takenOver(t, []string{begun, going, msgOn, textOn, hello}, "", second)
	testkit.Golden(t, "taken-over.sse", []byte(stream))
	sum := Room{}.Aggregator(nil)
	for _, line := range strings.Split(stream, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			sum.Add([]byte(data))
		}
	}
	m, ok := Room{}.DecodeBody(sum.Body())
	if !ok || m.ID != "resp_1" || m.Model != "gpt-x" || m.Usage.Input != 15 {
		t.Errorf("%+v", m)
	}
	if c := m.Choices[0]; len(c.Parts) != 2 || c.Parts[0].Text != "Hello!" || c.Parts[1].Name != "f" || c.Ending != wire.EndTools {
		t.Errorf("%+v", c)
	}
	if strings.Contains(stream, "resp_2") || strings.Contains(stream, "msg_2") || strings.Contains(stream, "qwen") {
		t.Errorf("the other shows: %s", stream)
	}
}

func TestAnAnswerIsTakenOverBeforeItsFirstWord(t *testing.T) {
	thinks := []string{begun,
		`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
		`{"type":"response.reasoning_summary_part.added","sequence_number":2,"output_index":0,"summary_index":0,"item_id":"rs_1","part":{"type":"summary_text","text":""}}`,
		`{"type":"response.reasoning_summary_text.delta","sequence_number":3,"output_index":0,"summary_index":0,"item_id":"rs_1","delta":"hm"}`}
	stream := takenOver(t, thinks, "Hi", []string{bare})
	for _, want := range []string{
		`"type":"response.reasoning_summary_text.done","sequence_number":4,"output_index":0,"item_id":"rs_1","summary_index":0,"text":"hm"`,
		`"type":"response.output_item.added","sequence_number":7,"output_index":1,"item":{"id":"msg_resp_1_1"`,
		`"response":{"id":"resp_1","status":"completed","output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"id":"msg_resp_1_1"`,
	} {
		if !strings.Contains(stream, want) {
			t.Errorf("no %s in\n%s", want, stream)
		}
	}
}

func TestAnAnswerThatIsTooLongToRememberPassesAllTheSame(t *testing.T) {
	w := Room{}.Writer(nil).(*writer)
	piece := strings.Replace(hello, "Hello", strings.Repeat("x", 1<<20), 1)
	for _, data := range []string{begun, msgOn, textOn, piece, piece, piece, piece, piece} {
		if len(w.Event(&sse.Event{Data: []byte(data)}, nil)) == 0 {
			t.Fatal("an event is missing")
		}
	}
	if !w.full || !w.empty() {
		t.Error("it is remembered")
	}
	w.Hold()
	out := string(w.Text([]byte("more")))
	w.Graft(&sse.Event{Data: []byte(end)}, nil, true)
	if last := string(w.Close(nil)); !strings.Contains(out, `"delta":"more"`) || !strings.Contains(last, "event: response.completed") {
		t.Error(out, last)
	}
}
