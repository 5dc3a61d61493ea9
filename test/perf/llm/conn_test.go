//go:build linux

package llm_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"backstop/test/perf/llm"
	"backstop/test/perf/process"
)

func TestRequestsInAnyPortionAreAllAnswered(t *testing.T) {
	at, err := process.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	go func() { t.Error(llm.Run(at, 1024)) }() // serves until the test binary ends
	if err := process.Up(at, nil); err != nil {
		t.Fatal(err)
	}
	var requests strings.Builder
	models := []string{"any", "any-n3-d0", "any-n3-d200", "any"}
	for i, model := range models {
		body := fmt.Sprintf(`{"model":%q,"stream":%v}`, model, i > 0)
		fmt.Fprintf(&requests, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	all := requests.String()
	for size := 1; size < len(all); size = size*3 + 1 {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for from := 0; from < len(all); from += size {
				_, _ = io.WriteString(c, all[from:min(from+size, len(all))])
			}
		}()
		answers := bufio.NewReader(c)
		for i := range models {
			r, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("portions of %d, answer %d: %v", size, i, err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || i == 0 && len(body) != 1024 || i > 0 && !strings.HasSuffix(string(body), "[DONE]\n\n") {
				t.Fatalf("portions of %d, answer %d: %v, %d bytes", size, i, err, len(body))
			}
		}
		_ = c.Close()
	}
}
