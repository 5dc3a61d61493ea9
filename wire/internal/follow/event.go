package follow

import "bytes"

// Closed reports whether the bytes of an event are good for a caller: nothing
// before its first line, and a blank line at its end. The last event of a
// stream that was cut may lack that, and one of our own has no raw bytes.
//
// Before it may stand the LF of a CR that ended another event, which is a blank
// line if that one did not go out, and so an event of nothing, which Go's SDKs
// fail on; or a byte-order mark, which few SDKs know and none behind a comment.
// Nor do all SDKs know lines that end with CR alone: Go's wait for an LF.
func Closed(raw []byte) bool {
	if bytes.HasPrefix(raw, []byte("\n")) || bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")) {
		return false
	}
	for rest := raw; ; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			break
		}
		if rest = rest[i+1:]; !bytes.HasPrefix(rest, []byte("\n")) {
			return false
		}
	}
	return bytes.HasSuffix(raw, []byte("\n\n")) || bytes.HasSuffix(raw, []byte("\r\n\r\n"))
}

// GoOn asks a model that takes no beginning of its answer for the rest of one.
const GoOn = "Your answer above was cut off. Continue it from exactly where it stops. " +
	"Do not repeat any of it, do not comment on the interruption and do not begin anew."
