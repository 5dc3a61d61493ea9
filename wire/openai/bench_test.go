package openai

import (
	"fmt"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// chunk240 is an event of 240 bytes as OpenAI sends it.
var chunk240 = func() *sse.Event {
	data := `{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1764403200,"model":"gpt-4o-2024-08-06","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}`
	return &sse.Event{Raw: []byte("data: " + data + "\n\n"), Data: []byte(data)}
}()

func BenchmarkReaderEvent240(b *testing.B) {
	r := Room{}.Reader(streamRequest(), okReply())
	b.SetBytes(int64(len(chunk240.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		if r.Event(chunk240).Kind != wire.Token {
			b.Fatal("no token")
		}
	}
}

func BenchmarkWriterEvent240(b *testing.B) {
	w, sig := Room{}.Writer(streamRequest()), &wire.Signal{Kind: wire.Token}
	b.ReportAllocs()
	for b.Loop() {
		if w.Event(chunk240, sig) == nil {
			b.Fatal("dropped")
		}
	}
}

func BenchmarkAggregate200Chunks(b *testing.B) {
	r := streamRequest()
	b.ReportAllocs()
	for b.Loop() {
		a := Room{}.Aggregator(r)
		for range 200 {
			a.Add(chunk240.Data)
		}
		_ = a.Body()
	}
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		body := []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum ", size/12) + `"}]}`)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, fail := (Room{}).Read(wire.Chat, body); fail != nil {
					b.Fatal(fail)
				}
			}
		})
	}
}

func BenchmarkOutbound1KiB(b *testing.B) {
	r := mustRead(b, wire.Chat, `{"model":"m","messages":[{"role":"user","content":"`+strings.Repeat("lorem ipsum ", 85)+`"}]}`)
	u, s := backstop.DefaultUpstream(), &backstop.Step{Model: "n"}
	b.ReportAllocs()
	for b.Loop() {
		if _, o := (Room{}).Outbound(r, &u, s); o != nil {
			b.Fatal(o.Message)
		}
	}
}
