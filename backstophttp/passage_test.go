package backstophttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/secret"
)

// handOver passes a request on and returns what the caller got. cut says that
// the connection was cut.
func (h *house) handOver(p *Passage) (got *page, ev *backstop.Event, cut bool) {
	h.t.Helper()
	if p.Dialect == "" {
		p.Dialect = backstop.OpenAI
	}
	p.Upstream, p.ID, p.Method = "primary", "req_1", "POST"
	got = newPage()
	ev, cut = h.d.Pass(context.Background(), got, p)
	if ev == nil {
		h.t.Error("a passage without a record")
	}
	return got, ev, cut
}

func TestAPassageGoesBothWaysWhileItComes(t *testing.T) {
	primary := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		act(w, r, []string{"one", "wait:2s", "two", "wait:50s", "three"})
	}
	in(t, setup{primary: primary}, func(h *house) {
		p, ev, cut := h.handOver(&Passage{Path: "/v1/files", Body: strings.NewReader("sent"), Length: 4})
		if cut || p.status != 200 || p.String() != "onetwothree" || p.first > time.Second || h.bodies["primary"] != "sent" {
			t.Errorf("%d %q, first %s, sent %q", p.status, p, p.first, h.bodies["primary"])
		}
		if ev.Op != "pass" || ev.Outcome != backstop.OK || len(h.events) != 1 || p.header.Get("X-Request-Id") != "req_1" {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestAPassageSaysHowItsAnswerIsCompressed(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, strings.Repeat("a line of a file\n", 100))
	_ = z.Close()
	whole, part := packed.String(), packed.String()[:20]
	for name, c := range map[string]struct {
		status             int
		encoding, sent     string
		wantStatus         int
		want, wantEncoding string
	}{
		"gzip that nobody asked for": {200, "gzip", whole, 200, strings.Repeat("a line of a file\n", 100), ""},
		"a part of it":               {206, "gzip", part, 206, part, "gzip"},
		"something else":             {200, "zstd", "packed", 200, "packed", "zstd"},
		"an error in gzip":           {400, "gzip", whole, 400, strings.Repeat("a line of a file\n", 100), ""},
		"an error in something else": {400, "zstd", "packed", 502, "upstream_unavailable", ""},
		"nothing":                    {304, "gzip", "", 304, "", ""},
	} {
		primary := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", c.encoding)
			w.Header().Set("Etag", `"of-the-packed"`)
			w.Header().Set("Accept-Ranges", "bytes")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.sent)
		}
		in(t, setup{primary: primary}, func(h *house) {
			p, _, cut := h.handOver(&Passage{Path: "/v1/files/f/content"})
			if cut || p.status != c.wantStatus || p.header.Get("Content-Encoding") != c.wantEncoding || !strings.Contains(p.String(), c.want) || c.wantStatus < 400 && p.String() != c.want {
				t.Errorf("%s: %d %v %q, cut %v", name, p.status, p.header, p, cut)
			}
			// A range, and a condition on one, belong to what was sent.
			if ours := p.header.Get("Etag") == `"of-the-packed"` && p.header.Get("Accept-Ranges") == "bytes"; ours != (c.wantEncoding != "") {
				t.Errorf("%s: %v", name, p.header)
			}
		})
	}
}

func TestAStreamOfAPassageIsNotHeldBackByAProxy(t *testing.T) {
	for kind, want := range map[string]string{"text/event-stream; charset=utf-8": "no", "application/jsonl": ""} {
		in(t, setup{primary: body(200, "data: 1\n\n", "Content-Type", kind)}, func(h *house) {
			if p, _, _ := h.handOver(&Passage{Path: "/v1/threads/t/runs"}); p.header.Get("X-Accel-Buffering") != want || p.header.Get("Content-Type") != kind {
				t.Errorf("%s: %v", kind, p.header)
			}
		})
	}
}

func TestAPassageThatFailsIsToldOrCut(t *testing.T) {
	for name, c := range map[string]struct {
		primary http.HandlerFunc
		status  int
		want    string
		cut     bool
	}{
		"nobody there":              {nil, 502, "upstream_unavailable", false},
		"silence":                   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 504, "upstream_timeout", false},
		"silence in the middle":     {answers("part", "hang"), 200, "part", true},
		"a connection that breaks":  {answers("part", "fin"), 200, "part", true},
		"an error of the upstream":  {body(500, `{"error":"theirs"}`), 500, "theirs", false},
		"a refusal of the upstream": {body(422, `{"error":"theirs"}`), 422, "theirs", false},
		"a wall":                    {body(403, `{"error":"theirs"}`), 502, "upstream_auth", false},
		"a way elsewhere":           {body(302, "", "Location", "http://other.test/"), 502, "302, and redirects are not followed", false},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: c.primary}, func(h *house) {
				p, ev, cut := h.handOver(&Passage{Path: "/v1/files"})
				if f := ev.Failure; (f != nil) != strings.Contains(p.String(), `"code":"upstream_`) || f != nil && !strings.Contains(p.String(), `"`+f.Message+`"`) {
					t.Errorf("%s, and on record %+v", p, f)
				}
				if cut != c.cut || p.status != c.status || !strings.Contains(p.String(), c.want) || p.header.Get("Location") != "" {
					t.Errorf("%d %s, cut %v", p.status, p, cut)
				}
				if len(h.events) != 1 || len(h.turns) != 0 {
					t.Errorf("%d events, breakers %+v", len(h.events), h.turns)
				}
			})
		})
	}
}

func TestAPassageEndsWithTheProcess(t *testing.T) {
	in(t, setup{primary: answers("part", "hang")}, func(h *house) {
		time.AfterFunc(time.Second, h.d.Abort)
		began := time.Now()
		if _, _, cut := h.handOver(&Passage{Path: "/v1/files"}); !cut || time.Since(began) != time.Second {
			t.Errorf("cut %v after %s", cut, time.Since(began))
		}
	})
}

func TestASlowUploadIsNoSilence(t *testing.T) {
	primary := func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, _ = w.Write(b)
	}
	in(t, setup{primary: primary}, func(h *house) {
		r, w := io.Pipe()
		go func() {
			for range 5 {
				time.Sleep(40 * time.Second)
				_, _ = io.WriteString(w, "x")
			}
			_ = w.Close()
		}()
		p, _, cut := h.handOver(&Passage{Path: "/v1/files", Body: r, Length: -1})
		if cut || p.String() != "xxxxx" {
			t.Errorf("%d %q, cut %v", p.status, p, cut)
		}
	})
}

// Neither a file that comes nor one that goes is cut by timeouts.total.
func TestAPassageThatProgressesIsNotCut(t *testing.T) {
	slow := []string{}
	for range 30 {
		slow = append(slow, "wait:50s", "x")
	}
	for name, primary := range map[string]http.HandlerFunc{
		"down": func(w http.ResponseWriter, r *http.Request) { act(w, r, slow) },
		"up": func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			_, _ = w.Write(b)
		},
	} {
		in(t, setup{primary: primary, change: func(p *backstop.Plan) { p.Upstreams[0].Timeouts.Total = 10 * time.Minute }}, func(h *house) {
			p := &Passage{Path: "/v1/files"}
			if name == "up" {
				r, w := io.Pipe()
				go func() {
					for range 30 {
						time.Sleep(50 * time.Second)
						_, _ = io.WriteString(w, "x")
					}
					_ = w.Close()
				}()
				p.Body, p.Length = r, -1
			}
			if got, ev, cut := h.handOver(p); cut || got.String() != strings.Repeat("x", 30) || ev.Outcome != backstop.OK {
				t.Errorf("%s: %d %q, cut %v", name, got.status, got, cut)
			}
		})
	}
}

// A picture or a transcript is made before the first byte of its answer.
func TestWhatTakesMinutesToMakeIsNoSilence(t *testing.T) {
	primary := func(takes time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			act(w, r, []string{"wait:" + takes.String(), "made", "wait:50s", "of it"})
		}
	}
	for name, p := range map[string]Passage{
		"of a known size":   {Body: strings.NewReader("sent"), Length: 4},
		"of an unknown one": {Body: strings.NewReader("sent"), Length: -1},
		"empty":             {Body: strings.NewReader(""), Length: 0},
		"none":              {},
	} {
		for _, c := range []struct {
			takes, total time.Duration
			status       int
		}{
			{4 * time.Minute, 0, 200}, {passageWait + time.Minute, 0, 504}, {4 * time.Minute, passageWait, 200},
			{4 * time.Minute, 5 * time.Minute, 200}, {6 * time.Minute, 5 * time.Minute, 504}, {passageWait + time.Minute, time.Hour, 200},
		} {
			takes, status := c.takes, c.status
			in(t, setup{primary: primary(takes), change: func(p *backstop.Plan) { p.Upstreams[0].Timeouts.Total = c.total }}, func(h *house) {
				own := p
				if s, ok := own.Body.(*strings.Reader); ok {
					_, _ = s.Seek(0, io.SeekStart)
				}
				own.Path = "/v1/images/generations"
				if got, _, cut := h.handOver(&own); cut || got.status != status || (got.String() == "madeof it") != (status == 200) {
					t.Errorf("%s, takes %s: %d %q, cut %v", name, takes, got.status, got, cut)
				}
			})
		}
	}
}

func TestAPassagePassesOverKeysThatWereRefused(t *testing.T) {
	limited := body(429, `{"error":{"message":"slow down"}}`, "Retry-After", "5")
	wall := body(401, `{"error":{"message":"no"}}`)
	fine := body(200, `{}`)
	for name, c := range map[string]struct {
		first, second, third http.HandlerFunc
		status               [4]int
		keys                 string
	}{
		"by a limit":       {limited, fine, fine, [4]int{429, 200, 200, 200}, "one two two one"},
		"by a wall":        {wall, fine, fine, [4]int{502, 200, 200, 200}, "one two two two"},
		"all of them":      {limited, limited, fine, [4]int{429, 429, 429, 200}, "one two one"},
		"not by a mistake": {body(404, `{}`), fine, fine, [4]int{404, 200, 200, 200}, "one one one one"},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			script := turns(c.first, turns(c.second, c.third))
			primary := func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer key-number-"))
				script(w, r)
			}
			in(t, setup{primary: primary, backup: answers(good("B")...), change: func(p *backstop.Plan) {
				p.Upstreams[0].Keys = []secret.Value{secret.New("key-number-one"), secret.New("key-number-two")}
			}}, func(h *house) {
				for i, status := range c.status {
					if i == 3 {
						time.Sleep(6 * time.Second)
					}
					p, _, _ := h.handOver(&Passage{Path: "/v1/files"})
					if p.status != status {
						t.Errorf("%d: %d %s, want %d", i, p.status, p, status)
					}
					if status == 429 && p.header.Get("Retry-After") != "5" {
						t.Errorf("%d: headers %v", i, p.header)
					}
				}
				if got := strings.Join(keys, " "); got != c.keys {
					t.Errorf("keys %s, want %s", got, c.keys)
				}
			})
		})
	}
}
