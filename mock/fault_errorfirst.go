package mock

// error-first opens a stream well and then says that it cannot.
func errorFirstFault(s spec) (player, error) {
	return func(x *exchange) { x.errorAfter(0) }, s.none()
}

// errorAfter sends n tokens, an error event and a clean end. A plain call
// gets the error as its body.
func (x *exchange) errorAfter(n int) {
	f := overloaded()
	if !x.ask.stream {
		x.fail(f)
		return
	}
	if x.until(n) {
		x.sign(&f)
		x.emit(x.say.failure(&f, true))
	}
}
