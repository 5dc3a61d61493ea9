package wire

import (
	"net/http"
	"time"

	"backstop"
)

// Surface is where in an answer something was seen.
type Surface uint8

// The surfaces: a status other than 200, a 200 body, and events of a 200
// stream before and after its first meaningful token.
const (
	SurfaceHTTP Surface = iota + 1
	SurfaceBody
	SurfaceFirst
	SurfaceMid
)

// Reply is an upstream's answer as the Judge sees it.
type Reply struct {
	Vendor  string           // profile of the upstream
	Dialect backstop.Dialect // of the upstream
	Caller  backstop.Dialect // of the caller: decides whether a body may be passed on
	Surface Surface
	Status  int
	Header  http.Header
	Event   string // name of an SSE event, streams only
	Body    []byte // body, or the data of the event
	Now     time.Time
	// Mask takes out of what is judged what no caller may know, before any of
	// it is shortened: of a part nobody knows what it was. nil = nothing.
	Mask func([]byte) []byte
}

// Crosses reports whether the caller speaks another dialect: what the hub has
// no word for, such as a picture that a model made, is then no answer.
func (a *Reply) Crosses() bool { return a.Caller != "" && a.Caller != a.Dialect }
