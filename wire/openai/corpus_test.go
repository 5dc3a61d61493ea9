package openai

import (
	"bytes"
	"strings"
	"testing"

	"backstop/sse"
	"backstop/wire"
)

// The recorded streams, read event by event as a driver reads them.
func TestTheReaderGivesTheRecordedVerdict(t *testing.T) {
	for _, j := range readJudged(t) {
		if j.Dialect != "openai" || !strings.HasPrefix(j.Surface, "stream-") || strings.Contains(j.Body, `"response.`) {
			continue
		}
		t.Run(j.ID, func(t *testing.T) {
			r := Room{}.Reader(streamRequest(), j.reply(wire.SurfaceFirst))
			events := sse.NewReader(bytes.NewReader([]byte(j.Body)), 0)
			for {
				ev, err := events.Next()
				if ev != nil && r.Event(ev).Kind == wire.Fault || err != nil {
					break
				}
			}
			j.check(t, r.End(true))
		})
	}
}
