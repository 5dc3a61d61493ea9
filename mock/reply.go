package mock

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strings"
)

// reply is a healthy answer before a dialect has dressed it. Faults that lie
// change it; faults that break leave it alone.
type reply struct {
	ask     *ask
	id      string // 16 hex digits, the same for a prompt
	created int64
	mark    string // which server answered
	choices []choice
	in, out int // usage
	noUsage bool
}

// choice is one of the n answers.
type choice struct {
	pieces  []string // one a token
	finish  string   // stop | length | tool_calls | content_filter | "" = never
	refusal bool     // pieces are the words of a refusal
	call    *call    // pieces are the arguments of this call
	thought []string // reasoning before the pieces
}

// call is a tool call.
type call struct{ id, name string }

// firstCreated is the base of the made-up creation times: answers must not
// depend on the clock.
const firstCreated = 1_700_000_000

// compose makes the healthy reply to a.
func compose(a *ask, o *Options) *reply {
	h := promptHash(a.prompt, o.Seed)
	r := &reply{
		ask: a, id: fmt.Sprintf("%016x", h), created: firstCreated + int64(h%10_000_000),
		mark: "mock-" + o.Name, in: len(strings.Fields(a.prompt)) + 3,
	}
	if a.op == "embedding" {
		r.in = 0
		for _, in := range a.inputs {
			r.in += len(strings.Fields(in)) + 1
		}
		return r
	}
	for i := range a.choices {
		r.choices = append(r.choices, r.choice(h+uint64(i)*0x9e3779b97f4a7c15, o.Tokens))
	}
	r.count()
	return r
}

func (r *reply) choice(h uint64, tokens int) choice {
	c := choice{finish: "stop"}
	switch {
	case r.ask.callTool:
		c = toolChoice(r.ask, h)
	case r.ask.json:
		c.pieces = split(minimalJSON(r.ask.schema, h))
	default:
		c.pieces = sentence(r.ask.prompt, h, tokens)
	}
	if n := r.ask.limit; n > 0 && n < len(c.pieces) {
		c.pieces, c.finish = c.pieces[:n], "length"
	}
	return c
}

// setText exchanges the text of every choice.
func (r *reply) setText(change func(text string) (text2, finish string)) {
	for i := range r.choices {
		c := &r.choices[i]
		text, finish := change(strings.Join(c.pieces, ""))
		c.pieces, c.finish, c.call = split(text), finish, nil
	}
	r.count()
}

func (r *reply) count() { r.out = r.tokens() }

func (r *reply) tokens() int {
	n := 0
	for i := range r.choices {
		n += len(r.choices[i].pieces) + len(r.choices[i].thought)
	}
	return n
}

// thoughts counts the tokens of reasoning among them.
func (r *reply) thoughts() int {
	n := 0
	for i := range r.choices {
		n += len(r.choices[i].thought)
	}
	return n
}

// promptHash is FNV-1a over seed and prompt, stirred so that near seeds do
// not give near numbers.
func promptHash(prompt string, seed uint64) uint64 {
	f := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	_, _ = f.Write(b[:])
	_, _ = f.Write([]byte(prompt))
	return stir(f.Sum64())
}

// stir is the finaliser of MurmurHash3: every input bit moves every output bit.
func stir(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
