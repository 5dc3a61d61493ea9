package mock

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// room is one path family of a dialect: how a request is read and how the
// answer is written.
type room struct {
	paths []string
	read  func(r *http.Request, body []byte) (*ask, *failure)
	say   dialect
}

// rooms are the path families of all dialects.
func rooms() []room {
	return slices.Concat(openAIRooms(), responsesRooms(), anthropicRooms(), geminiRooms())
}

// both is a path as it is and under /v1: people paste both.
func both(path string) []string { return []string{path, "/v1" + path} }

// dialect writes answers in one wire format. It knows nothing of faults.
type dialect interface {
	// body is the plain answer.
	body(r *reply) []byte
	// events is the whole stream of the same answer.
	events(r *reply) []frame
	// failure is an error: a body, or a whole event if inBand.
	failure(f *failure, inBand bool) []byte
}

// ask is a request as its dialect read it.
type ask struct {
	op     string // chat | completion | embedding | count
	model  string
	body   []byte
	prompt string // text of the last message of the person asking

	stream  bool
	usageOn bool // a stream shall end with a usage event
	pack    packing
	choices int
	limit   int // most tokens of the answer, 0 = not given

	json     bool            // the answer must be JSON
	schema   json.RawMessage // … that follows this, nil = any object
	tools    []tool
	callTool bool // a tool call is forced
	logprobs bool
	top      int // alternatives a token

	inputs []string // embedding
	size   int      // embedding: numbers in a vector
	base64 bool     // embedding: vectors are packed
}

// tool is a function that the model may call.
type tool struct {
	name   string
	params json.RawMessage
}

// packing is how a dialect wraps the frames of a stream, and what breaks it.
type packing struct {
	mime   string
	warm   []byte // a sign of life that is no progress
	broken []byte // a whole frame whose JSON is broken
	torn   []byte // the beginning of a frame
}

// dataLines is the packing of events without a name.
var dataLines = packing{
	mime: eventStream, warm: []byte(": keep-alive\n\n"), broken: []byte("data: {\"oops\n\n"), torn: []byte(`data: {"id":"`),
}

// named is an event with a name, as Responses and Anthropic write them.
func named(event string, data []byte) []byte {
	out := make([]byte, 0, len(event)+len(data)+16)
	out = append(append(out, "event: "...), event...)
	out = append(append(out, "\ndata: "...), data...)
	return append(out, "\n\n"...)
}

// frameKind says what part of a stream a frame is.
type frameKind uint8

const (
	opening  frameKind = iota + 1 // before a token: roles, message starts, changes from one part to the next
	content                       // carries one token
	finish                        // names the finish reason
	trailer                       // usage
	terminal                      // the dialect's end mark
)

// frame is one event of a stream, its blank line included.
type frame struct {
	kind frameKind
	raw  []byte
}

// failure is an error answer before a dialect has dressed it.
type failure struct {
	Status              int
	Message, Type, Code string
	Param               string
	RetryAfter          string // values of these headers, "" = none
	RetryAfterMS        string
	Wait                time.Duration // RetryAfter as a span, where it is a date
	Verbatim            []byte        // a body in place of the dialect's, nil = none

	TypeAsked, CodeAsked bool // Type, Code come from the fault and not from us: a dialect takes them as they are
	Quota                bool
	ID, ReplyID, Model   string // of the attempt, of its answer, as asked
	Seq                  int    // frames of the stream that were sent before
	Listed               bool   // the stream is a list that grows
}

// writeFailure writes an error answer and returns the bytes of its body.
func writeFailure(w http.ResponseWriter, d dialect, f failure) int {
	h := w.Header()
	body := f.Verbatim
	if body == nil {
		body = d.failure(&f, false)
	}
	h.Set("Content-Type", jsonBody)
	if _, inBody := d.(geminiDialect); !inBody {
		setUnlessEmpty(h, "Retry-After", f.RetryAfter)
		setUnlessEmpty(h, "Retry-After-Ms", f.RetryAfterMS)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	n, _ := w.Write(body)
	return n
}

func setUnlessEmpty(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}
