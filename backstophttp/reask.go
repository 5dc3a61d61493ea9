package backstophttp

import (
	"fmt"
	"strings"

	"backstop"
	"backstop/wire"
)

const (
	// maxBreaches and maxPath bound the list that a second question holds: its
	// paths have names out of the bad answer in them.
	maxBreaches = 20
	maxPath     = 120
)

// reaskable reports whether promised JSON can be asked for a second time.
func (r *run) reaskable() bool {
	_, ok := r.room.(wire.Asker)
	return ok && (r.promised() || r.req.Tools)
}

// reasked is the request for a second answer. It says what was wrong with the
// first and does not show it: models repeat what they read.
func (r *run) reasked(a *attempt) (*wire.Request, *backstop.Outcome) {
	room, ok := r.room.(wire.Asker)
	if !ok {
		o := diverged()
		return nil, &o
	}
	if before := r.attempted(a.step.Reask); before != nil {
		return room.Ask(r.req, complaint(before.wrong))
	}
	return r.req, nil
}

// attempted finds an attempt that was made, nil = none. A hedge may be added
// to them at the same moment.
func (r *run) attempted(id backstop.AttemptID) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.tried {
		if a.id == id {
			return a
		}
	}
	return nil
}

// complaint is the list of what was wrong, in words for a model.
func complaint(wrong []breach) string {
	var b strings.Builder
	b.WriteString("Your answer was not the JSON that was asked for:\n")
	for i, x := range wrong {
		if i == maxBreaches {
			fmt.Fprintf(&b, "- and %d more\n", len(wrong)-i)
			break
		}
		where := "the whole answer"
		if x.call != wire.NoCall {
			where = fmt.Sprintf("the arguments of tool call %d", x.call+1)
		}
		if path := x.Path; path != "" {
			if len(path) > maxPath {
				path = strings.ToValidUTF8(path[:maxPath], "") + "…"
			}
			where = fmt.Sprintf("%q", path)
			if x.call != wire.NoCall {
				where += fmt.Sprintf(" of the arguments of tool call %d", x.call+1)
			}
		}
		fmt.Fprintf(&b, "- %s: %s\n", where, x.Reason)
	}
	b.WriteString("Answer once more, with the whole JSON and nothing else around it.")
	return b.String()
}
