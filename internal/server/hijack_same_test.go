package server

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/backstophttp"
)

// kept is an http.ResponseWriter whose connection cannot be taken over.
type kept struct{ http.ResponseWriter }

// Unwrap lets http.ResponseController flush it and set deadlines.
func (k kept) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// lines are what a caller got, with the headers of each answer in order.
func lines(wire []byte) []string {
	out := strings.Split(strings.ReplaceAll(string(wire), "HTTP/1.1 ", "\r\nHTTP/1.1 "), "\r\n")
	for i, line := range out {
		if strings.HasPrefix(line, "HTTP/1.1 ") {
			slices.Sort(out[i+1 : i+slices.Index(out[i:], "")])
		}
	}
	return out
}

func TestACallerSeesNoDifferenceToAStreamOfNetHTTP(t *testing.T) {
	const id = "X-Request-Id: mine-0123456789"
	stream, whole := post(streaming, id), post(chat, id)
	head, body, _ := strings.Cut(post(streaming, id, "Expect: 100-continue"), "\r\n\r\n")
	next := "GET /healthz HTTP/1.1\r\nHost: g\r\n" + id + "\r\n"
	for name, script := range map[string][]any{ // strings are sent, durations waited
		"one":                         {stream},
		"in turn":                     {stream, 9 * time.Second, whole, time.Second, stream, 9 * time.Second, stream},
		"sent ahead":                  {stream + whole + stream + stream},
		"close":                       {post(streaming, id, "Connection: close") + whole},
		"close in a list":             {post(streaming, id, "connection: x, CLOSE")},
		"close in the second":         {post(streaming, id, "Connection: keep-alive", "Connection: Close")},
		"HTTP/1.0":                    {strings.Replace(stream, "HTTP/1.1", "HTTP/1.0", 1)},
		"asked first":                 {head + "\r\n\r\n", time.Second, body, 9 * time.Second, whole},
		"not waited for":              {head + "\r\n\r\n" + body + stream},
		"a body in chunks":            {inChunks(streaming, id) + whole},
		"newlines":                    {stream + "\r\n", 9 * time.Second, stream + "\r\n\r\n" + whole},
		"slowly":                      {stream[:99], time.Second, stream[99:], 9 * time.Second, "G", time.Second, next[1:], time.Second, "\r\n"},
		"junk while it runs":          {stream, time.Second, strings.Repeat("junk", 30000), 9 * time.Second},
		"junk while it rests":         {stream, 9 * time.Second, strings.Repeat("junk", 30000)},
		"half a head":                 {stream, 9 * time.Second, next, 20 * time.Second, "\r\n"},
		"a folded header":             {stream, 9 * time.Second, next + " folded\r\n\r\n"},
		"two lengths":                 {stream, 9 * time.Second, post(chat, id, "Content-Length: 1")},
		"another protocol":            {stream, 9 * time.Second, "PRI * HTTP/2.0\r\n" + id + "\r\n\r\nSM\r\n\r\n"},
		"left too long":               {stream, 4*time.Second + idleTime, stream},
		"just in time":                {stream, 4*time.Second + idleTime - time.Second, stream},
		"an error":                    {post(`{"model":"gpt-4o","stream":true,"response_format":"fails"}`, id) + stream},
		"what nobody flushed":         {post(`{"model":"claude-x","stream":true}`, id) + stream},
		"refused in front and behind": {post(`{"model":`, id) + stream + post(`{"stream":true}`, id) + next + "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var got [2][]string
			var events [2]int
			for i := range got {
				atDesk(t, func(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event {
					switch {
					case c.Request.Model == "claude-x":
						w.Header().Set("Content-Type", "text/plain")
						w.WriteHeader(299)
						_, _ = io.WriteString(w, strings.Repeat("x", 2000))
						return answered(c)
					case c.Request.Stream && c.Request.Promise.Kind != 0:
						w.Header()["Content-Type"] = []string{"application/json"}
						w.Header()["X-Odd"] = []string{"one\r\ntwo ", "three"}
						w.Header()["X Bad"] = []string{"x"}
						w.WriteHeader(529)
						_, _ = io.WriteString(w, "sorry")
						return answered(c)
					case !c.Request.Stream:
						w.Header().Set("Content-Type", "application/json")
					}
					return tells("a", "bc", "d")(ctx, w, c)
				}, func(d *desk) {
					if i == 0 {
						d.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.ServeHTTP(kept{w}, r) })
					}
					over := make(chan []byte)
					go func() {
						b, _ := io.ReadAll(d.in)
						over <- b
					}()
					for _, part := range script {
						switch part := part.(type) {
						case string:
							d.send(part)
						case time.Duration:
							time.Sleep(part)
						}
					}
					time.Sleep(30 * time.Second)
					_ = d.conn.Close()
					got[i] = lines(<-over)
					synctest.Wait()
					events[i] = len(d.events)
				})
			}
			if !slices.Equal(got[0], got[1]) || events[0] != events[1] || len(got[0]) < 5 {
				t.Errorf("net/http, %d events:\n%s\n\nours, %d events:\n%s", events[0], strings.Join(got[0], "\n"), events[1], strings.Join(got[1], "\n"))
			}
		})
	}
}
