package mock

import "slices"

// nodone is a complete stream that lacks its end mark. Plain bodies have
// none and are healthy.
func noDoneFault(s spec) (player, error) {
	return func(x *exchange) {
		x.begin()
		x.frames = slices.DeleteFunc(x.frames, func(f frame) bool { return f.kind == terminal })
		x.answer()
	}, s.none()
}
