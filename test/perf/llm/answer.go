//go:build linux

package llm

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// pace is how a stream runs.
type pace struct {
	chunks int
	every  int64 // ns
}

const usualChunks = 8

// paceOf reads the pace from the name of the model in a request.
func (s *server) paceOf(body []byte) pace {
	name := modelOf(body)
	if p, known := s.paces[string(name)]; known {
		return p
	}
	p := pace{chunks: usualChunks}
	for _, word := range strings.Split(string(name), "-") {
		if len(word) < 2 {
			continue
		}
		n, err := strconv.Atoi(word[1:])
		switch {
		case err != nil || n < 0:
		case word[0] == 'n':
			p.chunks = n
		case word[0] == 'd':
			p.every = int64(n) * int64(time.Microsecond)
		}
	}
	s.paces[string(name)] = p
	return p
}

func modelOf(body []byte) []byte {
	_, rest, _ := bytes.Cut(body, []byte(`"model"`))
	_, rest, _ = bytes.Cut(rest, []byte(`"`))
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return name
}

// wholeAnswer is a chat completion whose body has the given length.
func wholeAnswer(length int) []byte {
	body := func(content string) string {
		return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"perf","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":%q},"logprobs":null,"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":100,"completion_tokens":100,"total_tokens":200},"system_fingerprint":"fp_1"}`, content)
	}
	text := strings.Repeat("lorem ipsum ", 1+length/12)[:max(1, length-len(body("")))]
	b := body(text)
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(b), b)
}

const (
	streamHead  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
	beforeStamp = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"perf",` +
		`"system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"role":"assistant","content":"@`
	afterStamp = ` "},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	lastEvents = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"perf",` +
		`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

var streamEnd = fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(lastEvents), lastEvents)

// appendChunk appends one event in one HTTP chunk.
func appendChunk(b []byte, first bool, now int64) []byte {
	if first {
		b = append(b, streamHead...)
	}
	var digits [24]byte
	stamp := strconv.AppendInt(digits[:0], now, 10)
	b = strconv.AppendInt(b, int64(len(beforeStamp)+len(stamp)+len(afterStamp)), 16)
	b = append(b, "\r\n"...)
	b = append(b, beforeStamp...)
	b = append(b, stamp...)
	b = append(b, afterStamp...)
	return append(b, "\r\n"...)
}
