package sse_test

import (
	"testing"

	"backstop/sse"
)

func TestAppend(t *testing.T) {
	for _, tt := range []struct {
		name, event, data string
		want              string
	}{
		{"data alone", "", `{"a":1}`, "data: {\"a\":1}\n\n"},
		{"a name comes first", "error", "x", "event: error\ndata: x\n\n"},
		{"no data is an empty data line", "ping", "", "event: ping\ndata: \n\n"},
		{"each line gets a field of its own", "", "a\nb\n", "data: a\ndata: b\ndata: \n\n"},
		{"a blank line cannot end the event", "", "a\n\ndata: forged", "data: a\ndata: \ndata: data: forged\n\n"},
		{"CR and CRLF count as one line break each", "", "a\r\nb\rc", "data: a\ndata: b\ndata: c\n\n"},
		{"line breaks in a name are dropped", "a\r\ndata: forged", "x", "event: adata: forged\ndata: x\n\n"},
		{"leading space survives", "", " x", "data:  x\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(sse.Append([]byte("…"), tt.event, []byte(tt.data))); got != "…"+tt.want {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAppendComment(t *testing.T) {
	for text, want := range map[string]string{
		"keep-alive":    ": keep-alive\n\n",
		"":              ": \n\n",
		"a\n\ndata: no": ": a\n: \n: data: no\n\n",
	} {
		if got := string(sse.AppendComment(nil, text)); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
