package archtest

import (
	"path"
	"slices"
	"strings"
)

// Side is the floor of rooms that stand beside the house: they may use any
// floor up to the drivers, and only the top of the house may use them.
const Side = -1

// Room is a package, or a package with its folders below.
type Room struct {
	Dir     string
	Floor   int
	Tests   bool // only tests may import it
	Example bool // its users are outside: it has an Example
}

// rooms is the house of docs/architecture.md. A new package is entered here.
var rooms = []Room{
	{Dir: "test", Floor: 7, Tests: true},
	{Dir: "cmd/backstop", Floor: 6},
	{Dir: "internal/app", Floor: 5},
	{Dir: "internal/server", Floor: 4},
	{Dir: "internal/admin", Floor: 4},
	{Dir: "internal/config", Floor: 4},
	{Dir: "internal/config/tree", Floor: 4},
	{Dir: "internal/config/value", Floor: 4},
	{Dir: "internal/observe", Floor: 4},
	{Dir: "internal/cache", Floor: 4},
	{Dir: "internal/scenario", Floor: 4},
	{Dir: "internal/schema", Floor: 4},
	{Dir: "internal/doctor", Floor: 4},
	{Dir: "internal/importer", Floor: 4},
	{Dir: "internal/sbom", Floor: 4},
	{Dir: "backstophttp", Floor: 3, Example: true},
	{Dir: "sim", Floor: 3, Example: true},
	{Dir: "wire", Floor: 2},
	{Dir: "wire/internal/edit", Floor: 2},
	{Dir: "wire/internal/intake", Floor: 2},
	{Dir: "wire/internal/follow", Floor: 2},
	{Dir: "wire/internal/fit", Floor: 2},
	{Dir: "wire/internal/roomtest", Floor: 2, Tests: true},
	{Dir: "wire/openai", Floor: 2},
	{Dir: "wire/anthropic", Floor: 2},
	{Dir: "wire/responses", Floor: 2},
	{Dir: "wire/gemini", Floor: 2},
	{Dir: "internal/upstream", Floor: 2},
	{Dir: "local", Floor: 2},
	{Dir: ".", Floor: 1, Example: true},
	{Dir: "breaker", Floor: 0, Example: true},
	{Dir: "budget", Floor: 0, Example: true},
	{Dir: "backoff", Floor: 0, Example: true},
	{Dir: "limit", Floor: 0, Example: true},
	{Dir: "window", Floor: 0, Example: true},
	{Dir: "jsonfix", Floor: 0, Example: true},
	{Dir: "sse", Floor: 0, Example: true},
	{Dir: "secret", Floor: 0, Example: true},
	{Dir: "mock", Floor: Side, Example: true},
	{Dir: "internal/load", Floor: Side},
	{Dir: "internal/testkit", Floor: Side, Tests: true},
	{Dir: "internal/archtest", Floor: Side, Tests: true},
	{Dir: "test/cases", Floor: 6, Tests: true},
	{Dir: "docs", Floor: 7, Tests: true},
}

// passages are the imports that stay on one floor, each with its reason.
var passages = []struct{ from, to, why string }{
	{"wire/openai", "wire", "a dialect room speaks the words of the hub"},
	{"wire/anthropic", "wire", "a dialect room speaks the words of the hub"},
	{"wire/responses", "wire", "a dialect room speaks the words of the hub"},
	{"wire/gemini", "wire", "a dialect room speaks the words of the hub"},
	{"wire/internal/edit", "wire", "it quotes as the hub does"},
	{"wire/internal/intake", "wire", "it takes for JSON what the hub does"},
	{"wire/internal/follow", "wire", "what it finds, the Judge judges"},
	{"wire/internal/fit", "wire", "what it fits is a wire.Request"},
	{"wire/openai", "wire/internal/fit", "operators write quirks in the same words for every dialect"},
	{"wire/anthropic", "wire/internal/fit", "operators write quirks in the same words for every dialect"},
	{"wire/responses", "wire/internal/fit", "operators write quirks in the same words for every dialect"},
	{"wire/gemini", "wire/internal/fit", "operators write quirks in the same words for every dialect"},
	{"wire/openai", "wire/internal/edit", "a note reads the same in every dialect"},
	{"wire/anthropic", "wire/internal/edit", "changing bytes of JSON is the same in every dialect"},
	{"wire/responses", "wire/internal/edit", "changing bytes of JSON is the same in every dialect"},
	{"wire/gemini", "wire/internal/edit", "changing bytes of JSON is the same in every dialect"},
	{"wire/openai", "wire/internal/intake", "a body is refused in the same words in every dialect"},
	{"wire/anthropic", "wire/internal/intake", "a body is refused in the same words in every dialect"},
	{"wire/responses", "wire/internal/intake", "a body is refused in the same words in every dialect"},
	{"wire/gemini", "wire/internal/intake", "a body is refused in the same words in every dialect"},
	{"wire/openai", "wire/internal/follow", "a stream ends in the same ways in every dialect"},
	{"wire/anthropic", "wire/internal/follow", "a stream ends in the same ways in every dialect"},
	{"wire/responses", "wire/internal/follow", "a stream ends in the same ways in every dialect"},
	{"wire/gemini", "wire/internal/follow", "a stream ends in the same ways in every dialect"},
	{"local", "wire", "a local answer is a wire.Answer"},
	{"internal/upstream", "wire", "what goes out is a wire.Outbound"},
	{"breaker", "window", "a breaker counts in windows"},
	{"internal/config", "internal/config/tree", "YAML with places is a room below the configuration"},
	{"internal/config", "internal/config/value", "so are durations, sizes and variables"},
	{"internal/config/value", "internal/config/tree", "a value knows its place"},
	{"internal/scenario", "internal/config/tree", "a scenario is YAML with places as well"},
	{"internal/scenario", "internal/config/value", "and has durations and rates"},
	{"internal/importer", "internal/config/tree", "the files of other gateways are YAML with places as well"},
}

// RoomOf finds the room that a folder belongs to: itself, or the nearest
// folder above it that is a room. The root is the room of its own files only.
func RoomOf(dir string) (Room, bool) {
	for {
		if i := slices.IndexFunc(rooms, func(r Room) bool { return r.Dir == dir }); i >= 0 {
			return rooms[i], true
		}
		if dir = path.Dir(dir); dir == "." || dir == "/" {
			return Room{}, false
		}
	}
}

// Public reports whether users of the library can import the room.
func (r Room) Public() bool {
	return !r.Tests && !strings.Contains("/"+r.Dir, "/internal/") && !strings.HasPrefix(r.Dir, "cmd/")
}

// Pure reports whether the room is of the decision core or of the bytes that
// it reads: no clock, no chance, no goroutine.
func (r Room) Pure() bool {
	return r.Floor == 0 || r.Floor == 1 || r.Dir == "local" || r.Dir == "wire" || strings.HasPrefix(r.Dir, "wire/")
}
