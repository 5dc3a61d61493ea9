package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/wire/openai"
)

// slowConn notes what was written under one write deadline.
type slowConn struct {
	*httptest.ResponseRecorder
	under int
	most  int
}

func (c *slowConn) SetWriteDeadline(time.Time) error {
	c.under = 0
	return nil
}

func (c *slowConn) Write(p []byte) (int, error) {
	c.under += len(p)
	c.most = max(c.most, c.under)
	return c.ResponseRecorder.Write(p)
}

// A reader that takes a large answer slowly, but steadily, gets all of it: the
// time for a write is not the time for the whole.
func TestALargeAnswerHasTimeForEachPortion(t *testing.T) {
	text := strings.Repeat("word ", 1<<20)
	whole := func(c *slowConn, media string) *agentWriter {
		a := newAgentWriter(c, openai.Room{}, "id-1", false)
		c.Header().Set("Content-Type", media)
		a.WriteHeader(http.StatusOK)
		return a
	}
	event := &backstop.Event{ID: "id-1", Outcome: backstop.OK}
	for name, write := range map[string]func(*slowConn){
		"the agent's": func(c *slowConn) {
			a := whole(c, "application/json")
			_, _ = a.Write(chatBody(text, "stop"))
			a.finish(event)
		},
		"the end of the agent's stream": func(c *slowConn) {
			a := whole(c, "text/event-stream")
			a.text = []byte(text)
			a.finish(event)
		},
		"of the server's own": func(c *slowConn) { (&Server{}).write(c, http.StatusOK, []byte(text)) },
		"of another plane": func(c *slowConn) {
			h := timed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
			h.ServeHTTP(c, httptest.NewRequest("GET", "/", nil))
		},
	} {
		c := &slowConn{ResponseRecorder: httptest.NewRecorder()}
		write(c)
		if c.most > portion || !strings.Contains(c.Body.String(), text) {
			t.Errorf("%s: %d bytes under one deadline; %d bytes in all", name, c.most, c.Body.Len())
		}
	}
}
