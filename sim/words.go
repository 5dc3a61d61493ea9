package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Word describes one fault of a scenario. The words are those of the mock, so
// that what was simulated can also be served.
type Word struct {
	Word    string
	Example string // is accepted as [Fault].Word
	About   string
}

// entry is a line of the table of faults.
type entry struct {
	Word
	make   func(s *spec) (act, error)
	counts bool // takes @tokens
	nests  bool // its arguments end in another fault
}

// words lists every fault. Acts are in the files strike_*.go.
func words() []entry {
	return []entry{
		{Word: Word{"ok", "ok", "nothing is wrong"}, make: harmless},

		{Word: Word{"hang", "hang", "reads the request, then silence"}, make: hang},
		{Word: Word{"slow", "slow:20s", "the first token is late"}, make: slow},
		{Word: Word{"slowhead", "slowhead:2s", "the response header is late"}, make: slow},
		{Word: Word{"role-only", "role-only", "header and role, then silence"}, make: headOnly},
		{Word: Word{"keepalive", "keepalive", "comments for ever, no token"}, make: headOnly},
		{Word: Word{"blanklines", "blanklines:10s", "a queue: blank lines for a while, then a healthy answer"}, make: queued},
		{Word: Word{"stall", "stall@20", "tokens, then silence"}, make: stall, counts: true},
		{Word: Word{"drip", "drip:2s", "one token a time"}, make: drip},

		{Word: Word{"dial", "dial", "packets are swallowed: no connection ever stands"}, make: dial},
		{Word: Word{"refuse", "refuse", "connections are refused"}, make: refuse},
		{Word: Word{"dns", "dns", "the name does not resolve"}, make: dns},
		{Word: Word{"tls", "tls", "the handshake fails"}, make: handshake},
		{Word: Word{"reset", "reset", "the connection is reset before any header; reset@5, after some tokens"}, make: reset, counts: true},
		{Word: Word{"cut", "cut@40", "tokens, then the connection is closed"}, make: cut, counts: true},
		{Word: Word{"nofinish", "nofinish@5", "tokens, then a clean end without a finish reason"}, make: noFinish, counts: true},
		{Word: Word{"nodone", "nodone", "a complete stream without its end mark: nothing is wrong"}, make: harmless},
		{Word: Word{"halfclose", "halfclose", "a healthy answer on a half-closed connection"}, make: harmless},

		{Word: Word{"status", "status:503:retry-after=2", "an error answer at once; options retry-after= retry-after-ms= code= type= message= quota; 400 to 599 alone is short for it"}, make: status},
		{Word: Word{"busy", "busy", "503 with a string as its error"}, make: busy},
		{Word: Word{"context", "context", "400: the prompt is too long"}, make: context},
		{Word: Word{"param", "param:top_k", "400 that names a parameter, until it is left out"}, make: param},
		{Word: Word{"nostream", "nostream", "400 that names stream, for streams"}, make: noStream},
		{Word: Word{"streamonly", "streamonly", "400 that names stream, for plain calls"}, make: streamOnly},

		{Word: Word{"empty", "empty", "200 without a byte or an event"}, make: empty},
		{Word: Word{"html", "html:502", "an HTML page, with 200 or that status"}, make: page},
		{Word: Word{"error-in-200", "error-in-200:1305", "200 and an error object, with that code"}, make: errorIn200},
		{Word: Word{"error-first", "error-first", "a stream whose first event is an error"}, make: errorIn200},
		{Word: Word{"error-mid", "error-mid@3", "tokens, then an error event"}, make: errorMid, counts: true},
		{Word: Word{"malformed", "malformed@10", "events of broken JSON after some tokens"}, make: malformed, counts: true},
		{Word: Word{"bigevent", "bigevent", "all text in one event"}, make: harmless},
		{Word: Word{"usage-none", "usage-none", "a healthy answer without usage"}, make: harmless},

		{Word: Word{"blank", "blank", "a complete answer without content"}, make: blank},
		{Word: Word{"fenced", "fenced", "JSON inside a Markdown fence"}, make: mendable},
		{Word: Word{"prose", "prose", "JSON with a sentence before and after it"}, make: mendable},
		{Word: Word{"badjson", "badjson", "JSON with the mistakes of models; badjson:body breaks the answer itself"}, make: badJSON},
		{Word: Word{"truncated", "truncated", "JSON that stops in the middle"}, make: truncated},
		{Word: Word{"refusal", "refusal", "the model declines; refusal:filter, a content filter; refusal:400, a policy error"}, make: refusal},
		{Word: Word{"toolcall", "toolcall", "a call of the first tool offered"}, make: harmless},

		{Word: Word{"flap", "flap:60s:hang", "good for so long, then bad for as long, and so on"}, make: flap, nests: true},
		{Word: Word{"p", "p:0.25:503", "the fault with that probability"}, make: chance, nests: true},
		{Word: Word{"capacity", "capacity:40", "works on so many calls at a time only"}, make: harmless},
	}
}

// Words lists every fault, with an example that parses.
func Words() []Word {
	table := words()
	out := make([]Word, len(table))
	for i := range table {
		out[i] = table[i].Word
	}
	return out
}

// CheckWord says what is wrong with the text of a fault, nil if it can be
// played.
func CheckWord(text string) error {
	_, err := compile(text, judge{}, 0)
	return err
}

// spec is a fault's text taken apart, and whose answers it spoils.
type spec struct {
	word  string
	args  []string // after the colons
	at    int      // after the @, -1 = none
	depth int
	judge judge
	inner power // set by words that nest
}

// power is what a fault is able to do, besides its act.
type power struct {
	act      act
	weight   float64 // share of the attempts that it spoils
	capacity int     // -1 = leaves it
}

const (
	longestWord = 256
	deepestWord = 4
	mostTokens  = 1_000_000
)

// compile reads word[:argument…][@tokens].
func compile(text string, j judge, depth int) (power, error) {
	if len(text) > longestWord || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return power{}, fmt.Errorf("a fault has at most %d printable characters", longestWord)
	}
	if depth > deepestWord {
		return power{}, fmt.Errorf("faults are nested more than %d deep: use fewer p and flap", deepestWord)
	}
	word, rest := text, ""
	if i := strings.IndexAny(text, ":@"); i >= 0 {
		word, rest = text[:i], text[i:]
	}
	name := word
	if statusOf(word) != 0 {
		name = "status"
	}
	for _, e := range words() {
		if e.Word.Word == name {
			return e.compile(text, &spec{word: word, at: -1, depth: depth, judge: j}, rest)
		}
	}
	return power{}, fmt.Errorf("unknown fault %q: %s", word, known())
}

func known() string {
	var b strings.Builder
	b.WriteString("known are")
	for _, e := range words() {
		b.WriteString(" " + e.Word.Word)
	}
	return b.String()
}

func (e *entry) compile(text string, s *spec, rest string) (power, error) {
	if i := strings.LastIndexByte(rest, '@'); i >= 0 && !e.nests {
		n, err := strconv.Atoi(rest[i+1:])
		if err != nil || n < 0 || n > mostTokens {
			return power{}, fmt.Errorf("fault %q: after the @ stands a number of tokens; for example %s", text, e.Example)
		}
		if !e.counts {
			return power{}, fmt.Errorf("fault %q: %s does not count tokens: leave out the @", text, s.word)
		}
		s.at, rest = n, rest[:i]
	}
	if rest = strings.TrimPrefix(rest, ":"); rest != "" {
		s.args = strings.Split(rest, ":")
	}
	p := power{weight: 1, capacity: -1}
	a, err := e.make(s)
	if err == nil && s.word == "capacity" {
		p.capacity, err = s.capacity()
	}
	if err != nil {
		return power{}, fmt.Errorf("fault %q: %w; for example %s", text, err, e.Example)
	}
	p.act = a
	switch {
	case a == nil:
		p.weight = 0
	case e.nests:
		p.weight = s.inner.weight
	}
	if p.capacity >= 0 {
		p.weight = 1
	}
	return p, nil
}

func (s *spec) capacity() (int, error) {
	if len(s.args) != 1 {
		return 0, errors.New("a number of calls is wanted")
	}
	n, err := strconv.Atoi(s.args[0])
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number of calls", s.args[0])
	}
	return n, nil
}

func (s *spec) duration(otherwise time.Duration) (time.Duration, error) {
	switch len(s.args) {
	case 0:
		return otherwise, nil
	case 1:
		d, err := time.ParseDuration(s.args[0])
		if err != nil || d <= 0 {
			return 0, fmt.Errorf("%q is no duration above zero", s.args[0])
		}
		return d, nil
	}
	return 0, errors.New("one duration is wanted")
}

// nested reads the arguments from the i-th as a fault.
func (s *spec) nested(i int, otherwise string) error {
	text := otherwise
	if i < len(s.args) {
		text = strings.Join(s.args[i:], ":")
	}
	var err error
	if s.inner, err = compile(text, s.judge, s.depth+1); err == nil && s.inner.capacity >= 0 {
		err = errors.New("capacity cannot be nested")
	}
	return err
}

// statusOf reads three digits from 400 to 599, 0 for anything else.
func statusOf(word string) int {
	if len(word) != 3 {
		return 0
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}
