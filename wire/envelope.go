package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
)

// shape is the outer form of an answer that should have been an error object.
type shape uint8

const (
	shapeEmpty shape = iota // no byte, or white space only
	shapeHTML
	shapeText // neither JSON nor HTML
	shapeJSON
)

const (
	maxCodes    = 16
	maxCode     = 96
	maxText     = 4 << 10  // of a message, for the words
	maxMessage  = 512      // of a message, for the caller
	maxParsed   = 1 << 20  // a larger error body is not parsed
	maxPassed   = 64 << 10 // a larger error body is not passed on
	maxNesting  = 10000
	maxElements = 16 // of an array inside an error
)

// envelope is what an error answer says, whatever its form.
type envelope struct {
	shape   shape
	found   bool     // something calls itself an error
	codes   []string // codes, then types, lower case, the most telling first
	status  int      // HTTP status named inside, 0 = none
	vendor  string   // profile that the form alone gives away, "" = none
	text    string   // the message in lower case
	message string   // the message, cleaned and bounded
	param   string
	wrapped bool   // it came as an event stream
	json    []byte // the JSON, without a wrapping event stream
	root    gjson.Result
}

// ValidJSON reports whether b is one JSON value. Unlike a recursive parser it
// has no limit on depth that hostile bytes could turn into a crash.
func ValidJSON(b []byte) bool {
	if bytes.Count(b, []byte{'['})+bytes.Count(b, []byte{'{'}) > maxNesting {
		return json.Valid(b) // slower, and bounded in depth
	}
	return gjson.ValidBytes(b)
}

// readEnvelope takes an answer apart.
func readEnvelope(a *Reply) *envelope {
	e := &envelope{}
	body := bytes.TrimSpace(bytes.TrimPrefix(a.Body, []byte("\xef\xbb\xbf")))
	if data, status, ok := unwrapEvents(body); ok {
		body, e.status, e.wrapped = data, status, true
	}
	e.json = body
	switch {
	case len(body) == 0:
		e.shape = shapeEmpty
	case looksHTML(a.Header, body):
		e.shape = shapeHTML
	case len(body) <= maxParsed && ValidJSON(body):
		e.shape = shapeJSON
		e.readRoot(gjson.ParseBytes(body))
	default:
		e.shape = shapeText
		head := string(body[:min(len(body), maxText)])
		if body[0] == '{' || body[0] == '[' {
			e.hear(head) // cut or broken JSON: its words count, but nobody wants to read it
		} else {
			e.say(head)
		}
	}
	e.addHeaderType(a.Header)
	return e
}

// unwrapEvents finds the data of the first event when an error body is itself
// an event stream, and the status that some vendors put into a comment.
func unwrapEvents(body []byte) (data []byte, status int, ok bool) {
	if !startsEvents(body) {
		return nil, 0, false
	}
	for len(body) > 0 {
		var line []byte
		line, body, _ = bytes.Cut(body, []byte{'\n'})
		line = bytes.TrimRight(line, "\r")
		if rest, has := bytes.CutPrefix(line, []byte(":HTTP_STATUS/")); has {
			status, _ = strconv.Atoi(string(rest[:min(len(rest), 3)]))
		}
		if rest, has := bytes.CutPrefix(line, []byte("data:")); has && !ok {
			data, ok = bytes.TrimSpace(rest), true
		}
	}
	return data, status, ok
}

func startsEvents(body []byte) bool {
	for _, p := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(body, []byte(p)) {
			return true
		}
	}
	return false
}

func looksHTML(h http.Header, body []byte) bool {
	if body[0] == '<' {
		return true
	}
	return strings.HasPrefix(h.Get("Content-Type"), "text/html") && body[0] != '{' && body[0] != '[' && body[0] != '"'
}

// edge reports whether a body was written by something in front of the
// upstream: a CDN, a firewall, a reverse proxy.
func (e *envelope) edge(h http.Header) bool {
	switch {
	case e.shape == shapeHTML, h.Get("Cf-Mitigated") != "":
		return true
	case e.shape == shapeText:
		return strings.HasPrefix(e.text, "error code: 1")
	}
	return false
}

func (e *envelope) addHeaderType(h http.Header) {
	t := h.Get("X-Amzn-Errortype")
	t, _, _ = strings.Cut(t, ":")
	e.addCode(t)
}

// addCode keeps a code or type. Numbers that are an HTTP status are no code.
func (e *envelope) addCode(code string) {
	code = strings.ToLower(strings.TrimSpace(code))
	if i := strings.LastIndexByte(code, '#'); i >= 0 {
		code = code[i+1:]
	}
	switch code {
	case "", "none", "null", "error", "unknown_error":
		return
	}
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n <= 599 {
		if e.status == 0 {
			e.status = n
		}
		return
	}
	if len(code) <= maxCode && len(e.codes) < maxCodes {
		e.codes = append(e.codes, code)
	}
}

// say sets the message, once.
func (e *envelope) say(text string) {
	if e.text != "" || text == "" {
		return
	}
	e.hear(text)
	e.message = clean(text, maxMessage)
}

// hear adds words that count for the ruling but not for the caller.
func (e *envelope) hear(text string) {
	if room := maxText - len(e.text); room > 0 && text != "" {
		e.text = strings.TrimSpace(e.text + " " + strings.ToLower(text[:min(len(text), room)]))
	}
}

// native reports whether the body already is an error object of a dialect, so
// that a caller of that dialect can read it as it is.
func (e *envelope) native(d backstop.Dialect) bool {
	if e.shape != shapeJSON || e.wrapped || !e.root.IsObject() {
		return false
	}
	obj := e.root.Get("error")
	if !obj.IsObject() || obj.Get("message").Type != gjson.String {
		return false
	}
	switch d {
	case backstop.OpenAI, backstop.Responses:
		return textOrNull(obj.Get("type")) && textOrNull(obj.Get("code")) && textOrNull(obj.Get("param"))
	case backstop.Anthropic:
		return e.root.Get("type").Str == "error" && obj.Get("type").Type == gjson.String
	case backstop.Gemini:
		return obj.Get("code").Type == gjson.Number && obj.Get("status").Type == gjson.String
	}
	return false
}

func textOrNull(v gjson.Result) bool { return v.Type == gjson.String || v.Type == gjson.Null }
