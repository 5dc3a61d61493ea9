package responses

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"backstop/internal/testkit"
	"backstop/sse"
	"backstop/wire"
)

// What a writer remembers of a stream is bounded by its own count of it, so
// nothing of that may keep the whole event that it came in.
func TestAWriterKeepsNoEventOfWhichItRemembersAPart(t *testing.T) {
	const size, count = 384 << 10, 48
	pad := `"pad":"` + strings.Repeat("x", size) + `"`
	item := func(kind string, i int, more string) string {
		return fmt.Sprintf(`{"type":%q,"output_index":%d,"content_index":0,%s,%s}`, kind, i, more, pad)
	}
	message := `"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`
	part := `"part":{"type":"output_text","annotations":[],"text":""}`
	for name, event := range map[string]func(i int) []string{
		"items": func(i int) []string { return []string{item(itemAdded, i, message)} },
		"items that are over": func(i int) []string {
			return []string{item(itemAdded, i, `"item":{"id":"rs_1","type":"reasoning","summary":[]}`), item(itemDone, i, `"item":{"id":"rs_1","type":"reasoning","summary":[]}`)}
		},
		"parts": func(i int) []string { return []string{item(itemAdded, i, message), item(partAdded, i, part)} },
		"citations": func(i int) []string {
			if i == 0 {
				return []string{item(itemAdded, 0, message), item(partAdded, 0, part)}
			}
			return []string{item(cited, 0, `"annotation":{"type":"url_citation","url":"http://a"}`)}
		},
		"ends that wait": func(i int) []string {
			if i == 0 {
				return []string{item(itemAdded, 0, message), item(partAdded, 0, part)}
			}
			return []string{item(textDone, 0, `"text":""`)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := Room{}.Writer(nil)
			write := func(data string) {
				kind, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
				raw := sse.Append(nil, kind, []byte(data))
				ev, err := sse.NewReader(strings.NewReader(string(raw)), 0).Next()
				if err != nil {
					t.Fatal(err)
				}
				w.Event(ev, &wire.Signal{Kind: wire.Token})
			}
			write(begun)
			before := testkit.Heap()
			for i := range count {
				for _, data := range event(i) {
					write(data)
				}
			}
			if grown := testkit.Heap() - before; grown > size*count*2/3 {
				t.Errorf("%d events of %d KiB keep %d KiB", count, size>>10, grown>>10)
			}
			runtime.KeepAlive(w)
		})
	}
}

func TestAWriterKeepsNoMoreOfTheBeginThanItsNames(t *testing.T) {
	const size, count = 512 << 10, 32
	data := strings.Replace(begun, `"output":[]`, `"output":[],"instructions":"`+strings.Repeat("x", size)+`"`, 1)
	var list []wire.StreamWriter
	before := testkit.Heap()
	for range count {
		w := Room{}.Writer(nil)
		w.Event(&sse.Event{Name: created, Data: []byte(data), Raw: sse.Append(nil, created, []byte(data))}, nil)
		w.Event(&sse.Event{Name: itemAdded, Data: []byte(msgOn), Raw: sse.Append(nil, itemAdded, []byte(msgOn))}, nil)
		list = append(list, w)
	}
	if grown := testkit.Heap() - before; grown > size*count/3 {
		t.Errorf("%d streams that have begun keep %d KiB", count, grown>>10)
	}
	runtime.KeepAlive(list)
}
