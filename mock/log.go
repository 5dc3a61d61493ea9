package mock

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Attempt is one request that the mock has seen. Nothing in it is a prompt, an
// answer or a key.
type Attempt struct {
	Seq       int64     `json:"seq"` // from 1, in order of arrival
	Time      time.Time `json:"time"`
	Seconds   float64   `json:"seconds"` // arrival to end, 0 while open
	Path      string    `json:"path"`
	Model     string    `json:"model"`
	Stream    bool      `json:"stream"`
	MaxTokens int       `json:"max_tokens"` // as asked, 0 = not; tells probes apart
	Key       string    `json:"key"`        // first 8 hex digits of the key's SHA-256, "" = no key
	In        int64     `json:"in"`         // bytes of the request body
	Out       int64     `json:"out"`        // bytes of the answer body that were written
	Fault     string    `json:"fault"`
	Status    int       `json:"status"` // 0 = no header was sent
	Ended     string    `json:"ended"`  // open | done | canceled | cut | reset

	StainlessRetryCount string   `json:"stainless_retry_count,omitempty"` // header x-stainless-retry-count
	IdempotencyKey      bool     `json:"idempotency_key,omitempty"`       // such a header was there
	Headers             []string `json:"headers"`                         // names only, sorted, at most 64

	epoch int // of the log when it arrived
}

// Counts sums up all attempts since the start or the last Reset, those that
// have left the log included.
type Counts struct {
	Attempts int64            `json:"attempts"`
	Open     int64            `json:"open"`     // still running
	ByModel  map[string]int64 `json:"by_model"` // at most 1000 names, the rest under "other"
	ByFault  map[string]int64 `json:"by_fault"` // by the word of the fault
	ByEnd    map[string]int64 `json:"by_end"`   // done, canceled, cut, reset
}

// attemptLog is a ring of attempts and the counts of all.
type attemptLog struct {
	mu     sync.Mutex
	size   int
	ring   []*Attempt
	seq    int64 // attempts since the last reset
	epoch  int   // resets
	counts Counts
}

// begin records an arrival.
func (l *attemptLog) begin(r *http.Request) *Attempt {
	a := &Attempt{
		Time: time.Now(), Path: head(r.URL.Path, longestModel), Ended: EndOpen, Key: keyHash(peerKey(r)),
		StainlessRetryCount: head(r.Header.Get("X-Stainless-Retry-Count"), 16),
		IdempotencyKey:      r.Header.Get("Idempotency-Key") != "",
		Headers:             headerNames(r.Header),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	a.Seq, a.epoch = l.seq, l.epoch
	l.counts.Attempts++
	l.counts.Open++
	if len(l.ring) < l.size {
		l.ring = append(l.ring, a)
	} else {
		l.ring[int((a.Seq-1)%int64(l.size))] = a
	}
	return a
}

// name adds what the body said.
func (l *attemptLog) name(a *Attempt, q *ask, fault string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.Model, a.Stream, a.MaxTokens, a.Fault = head(q.model, longestModel), q.stream, q.limit, fault
	if a.epoch != l.epoch {
		return
	}
	count(&l.counts.ByModel, a.Model)
	count(&l.counts.ByFault, wordOf(fault))
}

// end records how the attempt went.
func (l *attemptLog) end(a *Attempt, x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.Seconds = time.Since(a.Time).Seconds()
	a.In, a.Out, a.Status, a.Ended = x.in, x.out, x.status, x.ended
	l.counts.Open--
	if a.epoch == l.epoch {
		count(&l.counts.ByEnd, x.ended)
	}
}

func count(m *map[string]int64, name string) {
	if *m == nil {
		*m = map[string]int64{}
	}
	if _, there := (*m)[name]; !there && len(*m) >= mostRules {
		name = "other"
	}
	(*m)[name]++
}

// reset forgets everything; attempts that are open still end, unseen.
func (l *attemptLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring, l.seq = nil, 0
	l.epoch++
	l.counts = Counts{Open: l.counts.Open}
}

// Log returns the attempts that are kept, oldest first. The slice is a copy.
func (s *Server) Log() []Attempt {
	l := &s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Attempt, 0, len(l.ring))
	oldest := 0
	if len(l.ring) == l.size {
		oldest = int(l.seq % int64(l.size))
	}
	for i := range l.ring {
		out = append(out, *l.ring[(oldest+i)%len(l.ring)])
	}
	return out
}

// Counts returns the sums over all attempts. Its maps are copies.
func (s *Server) Counts() Counts {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	c := s.log.counts
	c.ByModel, c.ByFault, c.ByEnd = maps.Clone(c.ByModel), maps.Clone(c.ByFault), maps.Clone(c.ByEnd)
	return c
}

// peerKey is the credential of a request, wherever a vendor's SDK puts it.
func peerKey(r *http.Request) string {
	if k, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return k
	}
	for _, name := range []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		if k := r.Header.Get(name); k != "" {
			return k
		}
	}
	return r.URL.Query().Get("key") // as Google's own examples do
}

func keyHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}

func headerNames(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names[:min(len(names), 64)]
}
