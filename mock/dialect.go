package mock

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// room is one path family of a dialect: how a request is read and how the
// answer is written.
type room struct {
	paths []string
	read  func(r *http.Request, body []byte) (*ask, *failure)
	say   dialect
}

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
	op     string // chat | completion | embedding
	model  string
	body   []byte
	prompt string // text of the last message of the person asking

	stream  bool
	usageOn bool // a stream shall end with a usage event
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

// frameKind says what part of a stream a frame is.
type frameKind uint8

const (
	opening  frameKind = iota + 1 // before the first token: roles, message starts
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
	Verbatim            []byte // a body in place of the dialect's, nil = none
}

func writeFailure(w http.ResponseWriter, d dialect, f failure) int {
	h := w.Header()
	body := f.Verbatim
	if body == nil {
		body = d.failure(&f, false)
	}
	h.Set("Content-Type", "application/json")
	if f.RetryAfter != "" {
		h.Set("Retry-After", f.RetryAfter)
	}
	if f.RetryAfterMS != "" {
		h.Set("Retry-After-Ms", f.RetryAfterMS)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	n, _ := w.Write(body)
	return n
}
