package backstophttp

import (
	"strings"
	"sync"

	"backstop"
	"backstop/wire"
)

// maxHeld and maxHeldID bound the memory of issued ids: when it is full the
// oldest goes.
const (
	maxHeld   = 16 << 10
	maxHeldID = 256
)

// holders remembers which upstream issued the ids of answers that a later call
// may name. It is shared by a driver and those that replace it.
type holders struct {
	mu    sync.Mutex
	names map[string]string // by id: the upstream's name
	ring  []string          // the ids, in order
	next  int
}

func newHolders() *holders { return &holders{names: map[string]string{}} }

func (h *holders) put(id, upstream string) {
	if id == "" || len(id) > maxHeldID {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.names[id]; !known {
		if len(h.ring) < maxHeld {
			h.ring = append(h.ring, id)
		} else {
			delete(h.names, h.ring[h.next])
			h.ring[h.next] = id
			h.next = (h.next + 1) % maxHeld
		}
	}
	h.names[id] = upstream
}

func (h *holders) get(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.names[id]
}

// pinnedTo is the one upstream that may take a call which names something that
// only its issuer knows: that one, or, where it is not known, the first of the
// route that serves such calls itself. "" = none does.
func (r *run) pinnedTo() string {
	first, here := "", map[string]bool{}
	for i := range r.route.Tiers {
		u := r.d.plan.Upstream(r.route.Tiers[i].Upstream)
		if u == nil || !r.native(u) {
			continue
		}
		here[u.Name] = true
		if first == "" {
			first = u.Name
		}
	}
	for _, ref := range wire.References(r.req.Body) {
		if name := r.d.holders.get(ref.ID); here[name] {
			return name
		}
	}
	return first
}

// elsewhere is why the attempt may not take a pinned call, nil if it may.
func (r *run) elsewhere(a *attempt) *backstop.Outcome {
	if !r.req.Pinned || a.cross == nil && a.step.Upstream.Name == r.pinnedTo() {
		return nil
	}
	param := ""
	if refs := wire.References(r.req.Body); len(refs) > 0 {
		param = refs[0].Param
	}
	return inexpressible(param, "upstream "+a.step.Upstream.Name+" cannot take a call with "+quotedName(param)+", which only the upstream that issued it knows")
}

// issuer is the upstream that a passage goes to. Where its path names an answer
// or conversation that came from here, only the upstream which issued it knows
// it, if that takes such requests.
func (d *Driver) issuer(p *Passage) string {
	for _, place := range [...]string{"/v1/responses/", "/v1/conversations/"} {
		if rest, ok := strings.CutPrefix(p.Path, place); ok {
			id, _, _ := strings.Cut(rest, "/")
			if u := d.plan.Upstream(d.holders.get(id)); u != nil && u.Passthrough {
				return u.Name
			}
		}
	}
	return p.Upstream
}

// issued notes what later calls may name, out of an event or a body of an
// upstream that serves Responses calls itself.
func (r *run) issued(a *attempt, data []byte) {
	if r.req.Dialect != backstop.Responses || a.cross != nil || a.issuer {
		return
	}
	for _, id := range wire.IssuedIDs(data) {
		a.issuer = true
		r.d.holders.put(id, a.step.Upstream.Name)
	}
}
