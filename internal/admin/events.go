package admin

import (
	"fmt"
	"net/http"
	"time"

	"backstop"
)

// eventTime is how long a reader may take for one event before it is cut.
const eventTime = 10 * time.Second

// transitionView is a transition in GET /api/events.
type transitionView struct {
	Time     time.Time `json:"time"`
	Upstream string    `json:"upstream"`
	Model    string    `json:"model,omitempty"`
	Scope    string    `json:"scope"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Cause    string    `json:"cause"`
	Trial    bool      `json:"trial,omitempty"`
}

// events streams the state and what the last second brought once a second, and
// transitions as they happen. It begins with the state and the history.
func (p *plane) events(w http.ResponseWriter, r *http.Request) {
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		fail(w, http.StatusServiceUnavailable, "overloaded", "too many event streams are open; close one")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	rc := http.NewResponseController(w)
	send := func(name string, body any) bool {
		_ = rc.SetWriteDeadline(time.Now().Add(eventTime))
		// encode ends with a line feed and has no other.
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n", name, encode(body))
		return err == nil
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	list, seen, changed := p.Recent.Transitions(0)
	past, told := p.past(list)
	for ok := send("state", p.view()) && send("history", past); ok && rc.Flush() == nil; {
		select {
		case <-r.Context().Done():
			return
		case <-p.Stop:
			return
		case <-second.C:
			var next []secondView
			next, told = p.seconds(told)
			ok = send("state", p.view()) && send("traffic", map[string]any{"seconds": next})
		case <-changed:
			list, seen, changed = p.Recent.Transitions(seen)
			for _, t := range list {
				ok = ok && send("transition", viewTransition(&t))
			}
		}
	}
}

func viewTransition(t *backstop.Transition) transitionView {
	return transitionView{Time: t.Time, Upstream: t.Upstream, Model: t.Model, Scope: t.Scope, From: t.From, To: t.To, Cause: t.Cause, Trial: t.Trial}
}
