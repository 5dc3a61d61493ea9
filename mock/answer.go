package mock

import "time"

// answer sends the reply, or what until has left of it.
func (x *exchange) answer() bool {
	x.begin()
	if x.ask.stream {
		for x.next < len(x.frames) {
			if !x.step() {
				return false
			}
		}
		return true
	}
	if x.sent == 0 && !x.wait(x.span(max(1, x.reply.tokens()))) {
		return false
	}
	x.open(jsonBody, len(x.plain))
	ok := x.emit(x.plain[x.sent:])
	x.sent = len(x.plain)
	return ok
}

// until sends the reply up to and including n tokens. A reply with fewer
// tokens is sent whole except for its end: in a stream the finish event and
// what follows, in a body the last bytes.
func (x *exchange) until(n int) bool {
	x.begin()
	if x.ask.stream {
		for x.next < len(x.frames) {
			kind := x.frames[x.next].kind
			if kind > content || kind == content && x.tokens >= n {
				return true
			}
			if !x.step() {
				return false
			}
		}
		return true
	}
	all := max(1, x.reply.tokens())
	n = min(n, all)
	if !x.wait(x.span(n)) {
		return false
	}
	x.open(jsonBody, len(x.plain))
	x.sent = min(len(x.plain)*n/all, len(x.plain)-1)
	return x.emit(x.plain[:x.sent])
}

// openings sends what comes before the first token: the header, and in a
// stream the events without a token.
func (x *exchange) openings() bool { return x.until(0) }

// begin makes the bytes of the reply, once, and opens a stream.
func (x *exchange) begin() {
	switch {
	case x.frames != nil || x.plain != nil:
	case x.ask.stream:
		x.frames = x.say.events(x.reply)
		x.open(x.ask.pack.mime, -1)
	default:
		x.plain = x.say.body(x.reply)
	}
}

// step sends the next frame of a stream, in its time.
func (x *exchange) step() bool {
	f := x.frames[x.next]
	if f.kind == content {
		pause := x.gap
		if x.tokens == 0 {
			pause = x.delay
		}
		if !x.wait(pause) {
			return false
		}
		x.tokens++
	}
	x.next++
	return x.emit(f.raw)
}

// span is the time that n tokens take; a plain body is ready after it.
func (x *exchange) span(n int) time.Duration {
	if n <= 0 {
		return 0
	}
	return x.delay + x.gap*time.Duration(n-1)
}
