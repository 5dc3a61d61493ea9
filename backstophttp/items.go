package backstophttp

import (
	"bytes"
	"container/list"
	"sync"
	"time"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

const (
	// maxItemBytes bounds the memory of items of answers: the oldest go first.
	maxItemBytes = 16 << 20
	// maxItem bounds one of them, so that it does not push all others out.
	maxItem = maxItemBytes / 16
	// itemAge is how long an item can be named.
	itemAge = time.Hour
	// itemCost is what an item costs besides its bytes.
	itemCost = 256
	// maxRecalled bounds by how much a call grows when its references are
	// exchanged for the items: a small call is not to become a large one.
	maxRecalled = 4 << 20
)

// items remembers the output of Responses answers, because callers name items
// of earlier answers and only the upstream that made one would know it: not the
// next tier, and nobody at all if the answer was translated. They are kept in
// memory alone, and given back to nobody but the caller who got the answer. The
// memory is shared by a driver and those that replace it.
type items struct {
	mu   sync.Mutex
	byID map[itemKey]*list.Element
	aged list.List // of *item, the oldest in front
	size int
}

type itemKey struct{ caller, id string }

type item struct {
	itemKey
	raw      []byte
	upstream string // whose answer it was in
	issued   bool   // the upstream knows it by its id
	at       time.Time
}

func newItems() *items { return &items{byID: map[itemKey]*list.Element{}} }

// put remembers an item. One that another upstream was first to give stays as
// it is: no upstream can exchange what another one said.
func (s *items) put(it item) {
	cost := len(it.raw) + len(it.id) + len(it.caller) + itemCost
	if len(it.id) > maxHeldID || cost > maxItem {
		return
	}
	it.raw = bytes.Clone(it.raw) // the answer is larger
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(it.at)
	if e := s.byID[it.itemKey]; e != nil {
		if e.Value.(*item).upstream != it.upstream {
			return
		}
		s.drop(e)
	}
	s.byID[it.itemKey] = s.aged.PushBack(&it)
	for s.size += cost; s.size > maxItemBytes; {
		s.drop(s.aged.Front())
	}
}

// get returns a caller's item, nil = there is none by this id.
func (s *items) get(caller, id string, now time.Time) *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	if e := s.byID[itemKey{caller, id}]; e != nil {
		return e.Value.(*item)
	}
	return nil
}

// expire drops what is too old. The caller holds the mutex.
func (s *items) expire(now time.Time) {
	for e := s.aged.Front(); e != nil && now.Sub(e.Value.(*item).at) > itemAge; e = s.aged.Front() {
		s.drop(e)
	}
}

func (s *items) drop(e *list.Element) {
	it := s.aged.Remove(e).(*item)
	delete(s.byID, it.itemKey)
	s.size -= len(it.raw) + len(it.id) + len(it.caller) + itemCost
}

// recalled is a call whose references to items were exchanged for the items.
type recalled struct {
	body []byte           // as it came
	from map[string]*item // by id
}

// recall exchanges the references to items in a Responses call for the items,
// if all of them are known and nothing else binds the call to one upstream:
// then every tier can take it.
func (r *run) recall() {
	q := r.req
	if q.Dialect != backstop.Responses || !q.Pinned {
		return
	}
	from, now := map[string]*item{}, time.Now()
	body, ok := wire.Resolve(q.Body, len(q.Body)+maxRecalled, func(id string) []byte {
		it := r.d.items.get(r.c.Caller, id, now)
		if it == nil {
			return nil
		}
		from[id] = it
		return it.raw
	})
	if !ok {
		return
	}
	if whole, fail := r.room.Read(q.Op, body); fail == nil && !whole.Pinned {
		r.req, r.recalled = whole, &recalled{q.Body, from}
	}
}

// recollected is the request for an upstream that serves Responses calls
// itself. The one that issued all items gets the call as it came; any other
// gets the items without what only their issuer knows.
func (r *run) recollected(a *attempt, req *wire.Request) *wire.Request {
	c, name := r.recalled, a.step.Upstream.Name
	if c == nil || a.room.Dialect() != backstop.Responses {
		return req
	}
	foreign := func(id string) bool {
		it := c.from[id]
		return it != nil && (!it.issued || it.upstream != name)
	}
	own := *req
	for id := range c.from {
		if foreign(id) {
			own.Body = wire.Unbind(req.Body, foreign)
			return &own
		}
	}
	if req == r.req {
		own.Body, own.Pinned = c.body, true
	}
	return &own
}

// remember keeps the items of an answer that is about to go to a caller of the
// Responses dialect: by the time it has them it may name them. Data is the
// plain body, or the end of a stream as it is framed. A call that is not to be
// stored is not kept here either.
func (r *run) remember(a *attempt, data []byte) {
	if r.req.Dialect != backstop.Responses || r.gone || len(data) == 0 || wire.Unstored(r.req.Body) {
		return
	}
	it := item{at: time.Now()}
	it.caller = r.c.Caller
	if a != nil {
		it.upstream = a.step.Upstream.Name
		it.issued = a.cross == nil && !a.takesOver() && len(a.repaired) == 0 && !a.truncated
	}
	if bytes.HasPrefix(bytes.TrimLeft(data, blanks), []byte("{")) {
		r.d.keep(it, data)
		return
	}
	for events := sse.NewReader(bytes.NewReader(data), 0); ; {
		ev, err := events.Next()
		if err != nil {
			return
		}
		r.d.keep(it, ev.Data)
	}
}

func (d *Driver) keep(it item, answer []byte) {
	for _, out := range wire.OutputItems(answer) {
		it.id, it.raw = out.ID, out.Raw
		d.items.put(it)
	}
}
