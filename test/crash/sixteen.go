package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// scenario is one line of the scorecard.
type scenario struct {
	id, title, fault string
	lane             string // scenarios of one lane never run side by side
	heavy            bool   // it wants the machine for itself
	run              func(context.Context, *trial) error
}

// sixteen are the scenarios of the benchmark, all on one gateway.
func sixteen(h *gateway) []scenario {
	return []scenario{
		h.one(single{id: "S01", title: "429 with Retry-After", fault: "429:retry-after=2", once: true, most: 20 * time.Second, more: namedDelay, asIs: true}),
		h.one(single{id: "S02", title: "429 without Retry-After, for ever", fault: "429", most: 2 * time.Second, more: noHammer}),
		h.one(single{id: "S03", title: "500 once", fault: "500", once: true, most: 3 * time.Second, more: sameAgain}),
		h.one(single{id: "S04", title: "503 for ever", fault: "503:code=overloaded", most: 3 * time.Second, more: noHammer}),
		h.one(single{id: "S05", title: "reset before a header", fault: "reset", once: true, most: 3 * time.Second}),
		h.one(single{id: "S06", title: "silence", fault: "hang", most: 6 * time.Second, first: 5 * time.Second, more: notAgain}),
		h.one(single{id: "S07", title: "slow first token", fault: "slow:20s", most: 6 * time.Second, more: notAgain}),
		h.one(single{id: "S08", title: "stream cut at 40 of 60 tokens", fault: "cut@40", most: 6 * time.Second}),
		h.one(single{id: "S09", title: "stream stalls at 20 of 60 tokens", fault: "stall@20", most: idle + firstToken + time.Second}),
		h.one(single{id: "S10", title: "malformed event in a stream", fault: "malformed@10", most: 3 * time.Second, more: inPlace}),
		h.one(single{id: "S11", title: "no [DONE]", fault: "nodone", most: 3 * time.Second, more: inPlace}),
		h.one(single{id: "S12", title: "context length exceeded", fault: "context", most: 2 * time.Second, more: notAgain}),
		h.one(single{id: "S13", title: "content filter", fault: "refusal:400", most: 2 * time.Second, refused: true, more: refusedOnce}),
		h.one(single{id: "S14", title: "stream cut, backup refuses a prefill", fault: "cut@40", most: 6 * time.Second, more: noPrefillSeen}),
		h.flapping(),
		h.one(single{id: "S16", title: "accounting of a failover", fault: "503:code=overloaded", most: 3 * time.Second, more: accounts}),
	}
}

// openSixteen starts the gateway of the benchmark: the two declared keys are
// retry.wait and context; everything else is a default.
func openSixteen(p pace) (*gateway, error) {
	tiers := func(model, backup string) string {
		return "  - model: \"" + model + "\"\n    tiers:\n      - {upstream: primary, context: 8192}\n      - {upstream: backup, model: " + backup + ", context: 131072}\n"
	}
	return open(setup{pace: p, primary: "retry: {wait: 3s}\n", tiers: tiers("s14", noPrefill) + tiers("*", "ok")})
}

// single is a scenario of one call.
type single struct {
	id, title, fault string
	once             bool          // the fault meets the first attempt only
	refused          bool          // the answer wanted is the upstream's refusal
	first, most      time.Duration // longest to the first token (0 = as the whole) and to the end
	asIs             bool          // these are the same at any pace: a Retry-After has whole seconds
	more             func(*trial, *sight)
}

// sight is what one call showed.
type sight struct {
	*answer
	primary, backup []sighting
}

// one makes the scenario of a single call. The model is named like it, so that
// breakers and parks of one scenario do not touch the next.
func (h *gateway) one(c single) scenario {
	return scenario{id: c.id, title: c.title, fault: c.fault, lane: "one call", run: func(ctx context.Context, t *trial) error {
		model, q := strings.ToLower(c.id), question{prompt: c.id + " asks in sixty words what a gateway is for."}
		text, err := h.text(ctx, q.prompt)
		if err != nil {
			return err
		}
		h.primary.arm(model, c.fault, armed{once: c.once})
		defer h.primary.disarm(model)
		q.model = model
		a := h.ask(ctx, h.url, q, 45*time.Second)
		t.got(a, text)
		if c.refused {
			t.rescued, t.lied = a.status >= 400 && a.status < 500 && a.typed(), ""
			if a.success() {
				t.should("the refusal is not routed around", false, "%s", a)
				t.rescued = true
			}
		}
		s := &sight{a, h.primary.sightings(c.id, ""), h.backup.sightings(c.id, "")}
		t.primary, t.backup = len(s.primary), len(s.backup)
		if c.asIs {
			c.most = time.Duration(float64(c.most) / h.pace.scale)
		}
		t.within("it ends in time", a.took, c.most)
		if c.first > 0 {
			t.within("the first token comes in time", a.first, c.first)
		}
		t.must("at most four requests for one call", t.primary+t.backup <= 4, "%d", t.primary+t.backup)
		if c.more != nil {
			c.more(t, s)
		}
		h.alive(ctx, t)
		return nil
	}}
}

// text is what a healthy upstream answers, asked directly and unseen.
func (h *gateway) text(ctx context.Context, prompt string) (string, error) {
	a := h.ask(ctx, "http://"+h.backup.addr, question{model: "ok", prompt: prompt, plain: true, header: unseen + ": 1"}, 10*time.Second)
	if !a.success() {
		return "", fmt.Errorf("a healthy upstream does not answer: %s", a)
	}
	return a.text, nil
}

// alive sends a healthy call afterwards.
func (h *gateway) alive(ctx context.Context, t *trial) {
	const prompt = "alive afterwards?"
	text, err := h.text(ctx, prompt)
	if err != nil {
		t.must("a healthy call afterwards", false, "%v", err)
		return
	}
	a := h.ask(ctx, h.url, question{model: "ok", prompt: prompt, plain: true}, 10*time.Second)
	t.must("a healthy call afterwards", a.whole(text), "%s", a)
}

// namedDelay: the delay that the upstream named is kept, and kept there.
func namedDelay(t *trial, s *sight) {
	t.should("the same upstream is asked again", len(s.primary) >= 2, "%d requests", len(s.primary))
	gap := time.Duration(0)
	if len(s.primary) >= 2 {
		gap = s.primary[1].at.Sub(s.primary[0].at)
	}
	t.should("after the time it named", gap >= 1800*time.Millisecond, "%.2f s", gap.Seconds())
	noHammer(t, s)
}

// noHammer: a refusal is not answered with a salvo.
func noHammer(t *trial, s *sight) {
	t.must("at most two requests at the primary", len(s.primary) <= 2, "%d", len(s.primary))
}

func sameAgain(t *trial, s *sight) {
	t.should("the same upstream is asked again", len(s.primary) >= 2, "%d requests", len(s.primary))
}

func notAgain(t *trial, s *sight) {
	t.must("the primary is asked once", len(s.primary) == 1, "%d requests", len(s.primary))
}

func refusedOnce(t *trial, s *sight) {
	notAgain(t, s)
	t.should("the backup is not asked", len(s.backup) == 0, "%d requests", len(s.backup))
	t.must("the upstream's own reason", strings.Contains(s.code, "content_policy"), "%s", s.code)
}

func inPlace(t *trial, s *sight) {
	t.should("no second request", len(s.primary)+len(s.backup) == 1, "%d", len(s.primary)+len(s.backup))
	t.should("usage is reported", s.usage != nil, "%v", s.usage)
	t.should("the caller gets its end mark", s.done, "%t", s.done)
}

func noPrefillSeen(t *trial, s *sight) {
	refused := 0
	for _, b := range s.backup {
		if b.refused {
			refused++
		}
	}
	t.must("a refused prefill is not the caller's error", refused == 0 || s.success(), "%d refused, %s", refused, s.answer)
}

// accounts: the answer bears the name and the numbers of who gave it.
func accounts(t *trial, s *sight) {
	noHammer(t, s)
	t.must("the model is the backup's", s.by() == "ok", "%q", s.by())
	t.must("the header names the backup", s.header.Get("X-Backstop-Tier") == "backup" && s.header.Get("X-Backstop-Upstream") == "backup", "%q", s.header.Get("X-Backstop-Tier"))
	t.should("usage is the backup's", s.usage != nil && s.usage.Out == tokens, "%+v", s.usage)
}
