package browser

import (
	"strings"
	"testing"
)

func TestThePageFindsAGatewayAgainThatWasAway(t *testing.T) {
	h := newGateway(t, text)
	p := open(t, h.dashboard())
	p.wait("the live page", "document.querySelector('#link').className.includes('live')")
	admin := strings.Replace(strings.TrimPrefix(strings.SplitN(h.AdminURL(), "/?", 2)[0], "http://"), "localhost", "127.0.0.1", 1)
	h.stop()
	p.wait("the loss is said", "document.querySelector('#link').className.includes('lost')")
	p.shot("now-lost-light")
	h.write(text, admin)
	h.start()
	p.wait("the live page again", "document.querySelector('#link').className.includes('live') && !document.querySelector('main').className.includes('stale')")

	// A gateway with another token is another gateway.
	h.stop()
	h.write(strings.Replace(text, token, "another-token-of-16-bytes", 1), admin)
	h.start()
	p.wait("a word about the token", "document.querySelector('.banner') && document.querySelector('.banner').innerText.includes('token')")
	p.clean("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "401", "EventSource")
}

func TestWhoHasNoTokenIsToldWhereItIs(t *testing.T) {
	h := newGateway(t, text)
	p := open(t, strings.SplitN(h.AdminURL(), "?", 2)[0])
	p.wait("the locked page", "document.body.innerText.includes('admin.token')")
	p.shot("locked")
	p.clean("401", "404")
}

// Painted soon: what a person waits for is the first state on the screen.
func TestTheFirstScreenIsUsableSoon(t *testing.T) {
	h := newGateway(t, text)
	p := open(t, h.dashboard())
	p.wait("the first state", "document.querySelector('.tile')")
	type timing struct{ Paint, Bytes, Files float64 }
	got := ask[timing](p, `(() => {
	  const files = performance.getEntriesByType('resource').filter((r) => !r.name.includes('/api/'));
	  const paint = performance.getEntriesByName('first-contentful-paint')[0];
	  return { Paint: paint ? paint.startTime : 0, Bytes: files.reduce((n, r) => n + r.decodedBodySize, 0), Files: files.length };
	})()`)
	t.Logf("first paint after %.0f ms, %.0f bytes in %.0f files", got.Paint, got.Bytes, got.Files)
	if got.Files < 10 || got.Bytes == 0 {
		t.Errorf("%+v", got)
	}
	foreign := ask[int](p, "performance.getEntriesByType('resource').filter((r) => !r.name.startsWith(location.origin)).length")
	if foreign != 0 {
		t.Errorf("%d files came from elsewhere", foreign)
	}
	p.clean()
}
