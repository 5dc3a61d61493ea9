package backstophttp

import (
	"strings"
	"time"

	"backstop"
	"backstop/local"
	"backstop/wire"
)

// templateModel is the model name of an answer from a template.
const templateModel = "backstop-template"

// fallback is an answer of the local tier.
type fallback struct {
	body  []byte // plain, in the caller's dialect
	model string
	stale time.Duration // age of a cached answer
}

// serveLocal lets the local tier answer, and tells the engine whether it could.
func (r *run) serveLocal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, step := time.Now(), &r.step
	tier := &r.route.Tiers[step.Tier]
	o := backstop.Outcome{Class: backstop.OK, InputTokens: -1, OutputTokens: -1}
	var ok bool
	if tier.Local.Cache != nil {
		ok = r.fromCache(now, tier, step.Reason)
	} else {
		ok = r.fromTemplate(now, tier, step.Reason)
	}
	if !ok {
		o.Class, o.Kind, o.NextTier = backstop.Canceled, backstop.KindMiss, true
	}
	r.call.Observe(now, step.Attempt, backstop.Mark{Kind: backstop.Ended, Outcome: o})
}

func (r *run) note(tier *backstop.Tier, reason string) wire.Note {
	return wire.Note{Tier: "local", Upstream: tier.Name(), Reason: reason, Attempts: r.call.Report().Attempts}
}

func (r *run) fromTemplate(now time.Time, tier *backstop.Tier, reason string) bool {
	if !local.Answers(tier.Local, r.req) {
		return false
	}
	t := tier.Local.Template
	values := local.Values{RequestID: r.c.ID, Route: r.route.Model, Model: r.req.Model, Reason: reason}
	text := ""
	if r.promised() {
		if text = string(local.RenderJSON(t.JSON, values)); !r.keeps(text) {
			return false
		}
	} else {
		text = local.Render(t.Text, values)
	}
	r.local.model = templateModel
	r.local.body = r.room.Compose(r.req, &wire.Answer{
		ID: r.c.ID, Created: now.Unix(), Model: templateModel, Text: text, Note: r.note(tier, reason),
	})
	return r.local.body != nil // some operations have no local answer
}

func (r *run) fromCache(now time.Time, tier *backstop.Tier, reason string) bool {
	store := r.cache()
	if store == nil {
		return false
	}
	e, ok := store.Get(r.cacheKey())
	if !ok || !local.Fresh(e, now, tier.Local.Cache.Age) {
		return false
	}
	if r.promised() {
		if text, _, ok := r.room.Content(e.Body); ok && !r.keeps(strings.TrimSpace(text)) {
			return false
		}
	}
	note := r.note(tier, reason)
	note.Stale = local.Stale(e, now)
	r.local.model, r.local.stale = e.Model, time.Duration(note.Stale)*time.Second
	r.local.body = r.room.Annotate(e.Body, &note)
	return true
}

// cache is the store of the call's route, nil = it has none.
func (r *run) cache() local.Cache {
	if r.route == nil || r.d.options.Cache == nil {
		return nil
	}
	for i := range r.route.Tiers {
		if l := r.route.Tiers[i].Local; l != nil && l.Cache != nil {
			return r.d.options.Cache(r.route)
		}
	}
	return nil
}

func (r *run) cacheKey() local.Key {
	return local.KeyOf(r.d.seed, r.c.Caller, r.route.Model, r.c.Request)
}

// store keeps a whole good answer of an upstream for a worse day.
func (r *run) store(a *attempt, o *backstop.Outcome) {
	if len(a.whole) == 0 || a.truncated || r.gone || !local.Keeps(r.req, o) {
		return
	}
	if store := r.cache(); store != nil {
		store.Put(r.cacheKey(), local.Entry{Body: a.whole, Model: a.step.Model, Stored: time.Now()})
	}
}
