package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"backstop"
	"backstop/mock"
	"backstop/sse"
	"backstop/wire/openai"
)

// check: J1 and J2, one ending, and one upstream's text.
func (w *tempest) check(e errand, resp *http.Response, answer string) {
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		w.stream(e, answer)
		return
	}
	var plain struct {
		Error   *struct{ Code string }
		Choices []struct {
			Message struct{ Content string }
			Text    string
		}
	}
	if err := json.Unmarshal([]byte(answer), &plain); err != nil || (plain.Error != nil) == (resp.StatusCode == 200) {
		w.fail(e.n, "status %d with a body that does not fit: %v %.300q", resp.StatusCode, err, answer)
		return
	}
	if resp.StatusCode != 200 {
		return
	}
	if len(plain.Choices) != 1 {
		w.fail(e.n, "no choice: %.300s", answer)
		return
	}
	w.text(e, plain.Choices[0].Message.Content+plain.Choices[0].Text, false)
}

func (w *tempest) stream(e errand, answer string) {
	var text strings.Builder
	ends, errs, finishes, continued := 0, 0, 0, false
	events := sse.NewReader(strings.NewReader(answer), 0)
	for {
		ev, err := events.Next()
		if err != nil {
			break
		}
		if ev.Comment {
			continue
		}
		if ends+errs > 0 {
			w.fail(e.n, "an event behind the end: %s", ev.Data)
			return
		}
		if string(ev.Data) == "[DONE]" {
			ends++
			continue
		}
		var chunk struct {
			Error   *struct{ Code string }
			Note    *struct{ Continued bool } `json:"x_backstop"`
			Choices []struct {
				Delta  struct{ Content string }
				Finish *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(ev.Data, &chunk); err != nil {
			w.fail(e.n, "an event that is no JSON: %s", ev.Data)
			return
		}
		if chunk.Error != nil {
			errs++
		}
		if chunk.Note != nil && chunk.Note.Continued {
			continued = true
		}
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
			if c.Finish != nil {
				finishes++
			}
		}
	}
	if ends+errs != 1 || finishes != ends {
		w.fail(e.n, "J1: %d ends, %d errors, %d finish reasons in %.2000s", ends, errs, finishes, answer)
		return
	}
	if errs == 0 {
		w.text(e, text.String(), continued)
	}
}

// text: J2.
func (w *tempest) text(e errand, text string, continued bool) {
	switch {
	case strings.Contains(e.kind, "json"):
		if !json.Valid([]byte(text)) && !w.met(e.n, "refusal") {
			w.fail(e.n, "promised JSON is %.300q", text)
		}
	case text == template || continued || w.met(e.n, "refusal") || w.met(e.n, "fenced") || w.met(e.n, "badjson") || w.met(e.n, "nofinish@5"): // these say what they like, the last one in plain bodies
	case text != w.want("primary", e.n) && text != w.want("backup", e.n):
		w.fail(e.n, "J2: the text is of nobody: %q\nprimary says %q\nbackup says  %q", text, w.want("primary", e.n), w.want("backup", e.n))
	}
}

// met reports whether an attempt of a call ran into a fault.
func (w *tempest) met(n int, fault string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.tries[n] {
		if s.fault == fault {
			return true
		}
	}
	return false
}

// written is what all events have told.
func (w *tempest) written() map[string][]*backstop.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events
}

// balance checks the books when all is quiet.
func (w *tempest) balance(e *backstop.Engine, calls int) {
	told := map[string]int{}
	calm := w.written()
	for n := range calls {
		list := calm[eventID(n)]
		if len(list) == 0 && !w.cancels[n].IsZero() && len(w.tries[n]) == 0 {
			continue // it left before anybody heard of it
		}
		if len(list) != 1 {
			w.fail(n, "J1: %d events", len(list))
			continue
		}
		w.attempts(n, list[0], told)
		w.left(n)
	}
	for name := range w.mocks {
		w.words["probe requests"] += w.probes[name]
		if want := told[name] + w.probes[name]; w.seen[name] != want {
			w.t.Errorf("seed %d: J5: %s saw %d requests, the events tell of %d and probes of %d", w.seed, name, w.seen[name], told[name], w.probes[name])
		}
	}
	for _, u := range e.State(time.Now()).Upstreams {
		if u.Inflight != 0 {
			w.t.Errorf("seed %d: J3: %s keeps %d permits", w.seed, u.Name, u.Inflight)
		}
	}
}

// attempts: J5 of one call, J7 and I11.
func (w *tempest) attempts(n int, e *backstop.Event, told map[string]int) {
	sum := 0
	w.words["call "+e.Outcome.String()]++
	w.words["rescue "+e.Rescued]++
	if !w.cancels[n].IsZero() {
		w.words["caller left"]++
	}
	for _, a := range e.Attempts {
		w.words[a.Outcome.Reason()]++
		w.words["replays"] += a.Replays
		told[a.Upstream] += 1 + a.Replays
		sum += 1 + a.Replays
	}
	if sum != len(w.tries[n]) {
		w.fail(n, "J5: %d requests were seen, the event tells of %d", len(w.tries[n]), sum)
	}
	deadline, committed := w.plan.Routes[0].Deadline, false
	if own := w.limits[n]; own > 0 {
		deadline = own
	}
	for _, a := range e.Attempts {
		waited := a.Start + a.Duration
		if a.FirstToken > 0 {
			waited = a.Start + a.FirstToken
		}
		if waited > deadline+10*time.Millisecond && !committed { // a rescuer has a clock of its own
			w.fail(n, "J7: attempt %d without a token until %s, the deadline was %s", a.ID, waited, deadline)
		}
		committed = committed || e.Committed && a.FirstToken > 0
	}
	if len(e.Attempts) > backstop.MaxAttempts {
		w.fail(n, "I11: %d attempts", len(e.Attempts))
	}
}

// left: J6, a caller who left takes its attempts along.
func (w *tempest) left(n int) {
	at := w.cancels[n]
	if at.IsZero() {
		return
	}
	for _, s := range w.tries[n] {
		if s.began.After(at.Add(100*time.Millisecond)) || s.ended.IsZero() || s.ended.After(at.Add(100*time.Millisecond)) {
			w.fail(n, "J6: the caller left at %s, %s was asked until %s", at.Format("05.000000"), s.upstream, s.ended.Format("05.000000"))
		}
	}
}

// want is the whole answer of an upstream to a plain question.
func (w *tempest) want(upstream string, n int) string {
	rec := &paper{header: http.Header{}}
	body := fmt.Sprintf(`{"model":"ok","messages":[{"role":"user","content":%q}]}`, w.prompt(n))
	m := mock.New(mock.Options{Seed: map[string]uint64{"primary": 0, "backup": w.seed % 3 / 2}[upstream], Name: upstream, Tokens: stormTokens})
	req, err := http.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return ""
	}
	m.ServeHTTP(rec, req)
	text, _, _ := openai.Room{}.Content([]byte(rec.body.String()))
	return text
}

// paper is a response writer in memory.
type paper struct {
	header http.Header
	body   strings.Builder
}

func (r *paper) Header() http.Header         { return r.header }
func (r *paper) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *paper) WriteHeader(int)             {}
