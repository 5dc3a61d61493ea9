package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// scenario is what must hold for each SDK: with an upstream of its own dialect,
// with each other one, or with all.
type scenario struct {
	name   string
	shows  string // as docs/sdks.md says it
	with   reach
	routes func(own, k kind) []route // without their models; k is what the scenario is run with
	check  func(c *trial)
}

type reach int

const (
	itsOwn reach = iota
	eachOther
	every
)

// kinds lists what a scenario is run with for an SDK.
func (r reach) kinds(s *sdk) []kind {
	switch r {
	case itsOwn:
		return []kind{s.own}
	case eachOther:
		return s.others
	}
	return append([]kind{s.own}, s.others...)
}

// trial is one scenario with one SDK and one upstream.
type trial struct {
	*testing.T
	sdk     *sdk
	gateway *gateway
	k       kind
	models  []string // of its routes
	traffic *traffic
	talker  talker
	told    int // requests that were expected so far
}

// modelOf names the route number i of a trial.
func modelOf(scenario string, k kind, i int) string {
	words := strings.NewReplacer(" ", "-", ",", "", "'", "")
	return words.Replace(strings.ToLower(scenario)) + "_" + string(k) + "_" + string(rune('a'+i))
}

// routes are those of all trials of an SDK.
func routes(s *sdk) []route {
	var all []route
	for _, sc := range scenarios {
		for _, k := range sc.with.kinds(s) {
			for n, r := range sc.routes(s.own, k) {
				r.model = modelOf(sc.name, k, n)
				all = append(all, r)
			}
		}
	}
	return all
}

func TestSDKs(t *testing.T) {
	stacks := gateways(t)
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			for i := range sdks {
				for _, k := range sc.with.kinds(&sdks[i]) {
					t.Run(sdks[i].name+" with "+string(k), func(t *testing.T) {
						t.Parallel()
						c := &trial{T: t, sdk: &sdks[i], k: k, gateway: stacks[sdks[i].name]}
						for n := range sc.routes(c.sdk.own, k) {
							c.models = append(c.models, modelOf(sc.name, k, n))
						}
						c.talker = c.open(callerKey)
						sc.check(c)
					})
				}
			}
		})
	}
	t.Run("models are listed", func(t *testing.T) { listsModels(t, stacks) })
	t.Run("tokens are counted", func(t *testing.T) { countsTokens(t, stacks) })
}

// open makes a talker with the SDK's own defaults: retries included.
func (c *trial) open(key string) talker {
	c.Helper()
	connections := &http.Transport{}
	c.Cleanup(connections.CloseIdleConnections)
	c.traffic, c.told = &traffic{base: connections}, 0
	opened, err := c.sdk.open(c.gateway.url, key, &http.Client{Transport: c.traffic})
	if err != nil {
		c.Fatal(err)
	}
	return opened
}

const prompt = "where does the river go"

// callLimit only ends a test that hangs: it is far above what any call takes.
const callLimit = 5 * time.Minute

// say puts a question to route number i, plain or streamed, and sees to it that
// the SDK sends one request.
func (c *trial) say(i int, streamed bool, q question) (answer, error) {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	q.model = c.models[i]
	if q.prompt == "" {
		q.prompt = prompt
	}
	put := c.talker.plain
	if streamed {
		put = c.talker.stream
	}
	a, err := put(ctx, q)
	if c.told++; len(c.traffic.all()) != c.told {
		c.Fatalf("%d requests so far, want %d (%v)", len(c.traffic.all()), c.told, err)
	}
	return a, err
}

// answered is say where an answer is expected.
func (c *trial) answered(i int, streamed bool, q question) answer {
	c.Helper()
	a, err := c.say(i, streamed, q)
	if err != nil {
		c.Fatalf("%s: %v", way(streamed), err)
	}
	return a
}

// failed is say where an error is expected, of the SDK's own type, and nothing
// in it that is nobody's business.
func (c *trial) failed(i int, streamed bool, q question) (answer, failure) {
	c.Helper()
	a, err := c.say(i, streamed, q)
	if err == nil {
		c.Fatalf("%s: answered: %+v", way(streamed), a)
	}
	f, ok := c.talker.typed(err)
	if !ok {
		c.Fatalf("%s: the error has no type of the SDK: %T %v", way(streamed), err, err)
	}
	for _, secret := range []string{upstreamKey, "127.0.0.1", "/" + twin, "/" + other, "dial tcp", "EOF"} {
		if strings.Contains(f.message, secret) {
			c.Errorf("%s: the message has %q: %s", way(streamed), secret, f.message)
		}
	}
	return a, f
}

func (c *trial) is(what string, got, want any) {
	c.Helper()
	if got != want {
		c.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// header is a header of the last answer.
func (c *trial) header(name string) string {
	all := c.traffic.all()
	return all[len(all)-1].header.Get(name)
}

// upstreamOf is the last body that an upstream of route number i was sent.
func (c *trial) upstreamOf(i, n int) []byte {
	c.Helper()
	bodies := c.gateway.asked.of(upstream(c.models[i], n))
	if len(bodies) == 0 {
		c.Fatalf("upstream %d of route %d was not asked", n, i)
	}
	return bodies[len(bodies)-1]
}

// attempts counts what an upstream of route number i was asked.
func (c *trial) attempts(i, n int) int { return len(c.gateway.asked.of(upstream(c.models[i], n))) }

func way(streamed bool) string {
	if streamed {
		return "streamed"
	}
	return "plain"
}

var ways = []bool{false, true}

// says is what a mock answers to the prompt when nothing is wrong, asked without
// a gateway.
func says(t *testing.T, mock string) string {
	t.Helper()
	body := `{"model":"ok","messages":[{"role":"user","content":"` + prompt + `"}]}`
	answer, err := http.Post(world.mocks[mock]+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || len(got.Choices) == 0 {
		t.Fatalf("%s: %v", answer.Status, err)
	}
	return got.Choices[0].Message.Content
}
