package fit

import (
	"backstop"
	"backstop/wire"
)

// Streamed decides whether an event stream is asked for in a call that has one.
// That the upstream is to be asked plainly is the step's word alone.
func Streamed(r *wire.Request, s *backstop.Step) bool {
	switch {
	case s.Plain:
		return false
	case r.Stream:
		return true
	}
	return r.Streamable()
}
