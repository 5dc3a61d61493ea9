package sdk

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

// one is a route with one upstream.
func one(k kind, fault string) []route {
	return []route{{tiers: []tier{{kind: k, fault: fault, mock: twin}}}}
}

// scenarios are what must hold. They stand in docs/sdks.md, see page_test.go.
var scenarios = []scenario{
	{
		name: "chat", with: every,
		shows:  "a plain answer: the model's own words, a clean end, the tokens counted",
		routes: func(_, k kind) []route { return one(k, "ok") },
		check: func(c *trial) {
			a := c.answered(0, false, question{})
			c.is("text", a.text, says(c.T, twin))
			c.is("finish", a.finish, c.sdk.finish["text"])
			c.is("model", a.model, "ok")
			c.is("tier", c.header("x-backstop-tier"), "primary")
			if a.in <= 0 || a.out <= 0 {
				c.Errorf("tokens: %d in, %d out", a.in, a.out)
			}
		},
	},
	{
		name: "stream", with: every,
		shows:  "the same as a stream: text, end and tokens are equal",
		routes: func(_, k kind) []route { return one(k, "ok") },
		check: func(c *trial) {
			whole, a := c.answered(0, false, question{}), c.answered(0, true, question{})
			c.is("text", a.text, whole.text)
			c.is("finish", a.finish, whole.finish)
			c.is("model", a.model, whole.model)
			c.is("tokens in", a.in, whole.in)
			c.is("tokens out", a.out, whole.out)
			if a.pieces < 10 {
				c.Errorf("%d pieces", a.pieces)
			}
		},
	},
	{
		name: "streamed tool call", with: every,
		shows:  "its name, its id, and arguments that parse; the same as the plain one",
		routes: func(_, k kind) []route { return one(k, "toolcall") },
		check: func(c *trial) {
			whole, a := c.answered(0, false, question{tool: true}), c.answered(0, true, question{tool: true})
			c.isCall(&whole)
			c.isCall(&a)
			c.is("arguments", compact(a.calls[0].arguments), compact(whole.calls[0].arguments))
		},
	},
	{
		name: "structured output of a fenced upstream", with: every,
		shows:  "the fence is gone before the SDK reads the JSON, plain and streamed; one request, one attempt",
		routes: func(_, k kind) []route { return one(k, "fenced") },
		check: func(c *trial) {
			for n, streamed := range ways {
				a := c.answered(0, streamed, question{city: true})
				strict := json.NewDecoder(strings.NewReader(a.text))
				strict.DisallowUnknownFields()
				var got city
				if err := strict.Decode(&got); err != nil || got.City == "" || got.People == nil || got.Tags == nil {
					c.Errorf("%s: %v in %q", way(streamed), err, a.text)
				}
				c.is("finish", a.finish, c.sdk.finish["text"])
				c.is("attempts", c.attempts(0, 0), n+1)
			}
		},
	},
	{
		name: "thinking", with: every,
		shows:  "an upstream that thinks aloud first: no thought gets into the text",
		routes: func(_, k kind) []route { return one(k, "thinking") },
		check: func(c *trial) {
			for _, streamed := range ways {
				a := c.answered(0, streamed, question{})
				c.is("text", a.text, says(c.T, twin))
				c.is("finish", a.finish, c.sdk.finish["text"])
			}
		},
	},
	{
		name: "primary dead, backup of another dialect", with: eachOther,
		shows: "the primary answers 503: the backup answers, plain and streamed, in one request",
		routes: func(own, k kind) []route {
			return []route{{tiers: []tier{{kind: own, fault: "503", mock: twin}, {kind: k, fault: "ok", mock: other}}}}
		},
		check: func(c *trial) {
			for _, streamed := range ways {
				c.saved(streamed)
				c.is("reason", c.header("x-backstop-reason"), "broken/overload")
			}
		},
	},
	{
		name: "primary silent, backup of another dialect", with: eachOther,
		shows: "the primary never says a word: the same",
		routes: func(own, k kind) []route {
			return []route{{tiers: []tier{{kind: own, fault: "hang", mock: twin, brief: true}, {kind: k, fault: "ok", mock: other}}}}
		},
		check: func(c *trial) {
			for _, streamed := range ways {
				c.saved(streamed)
				c.is("reason", c.header("x-backstop-reason"), "hang")
			}
		},
	},
	{
		name: "stream cut, taken over by another dialect", with: eachOther,
		shows: "the text is whole and without a seam; both ways round",
		routes: func(own, k kind) []route {
			return []route{
				{tiers: []tier{{kind: own, fault: "cut@10", mock: twin}, {kind: k, fault: "ok", mock: twin}}},
				{tiers: []tier{{kind: k, fault: "cut@10", mock: twin}, {kind: own, fault: "ok", mock: twin}}},
			}
		},
		check: func(c *trial) {
			for i := range c.models {
				a := c.answered(i, true, question{})
				c.is("text", a.text, says(c.T, twin))
				c.is("finish", a.finish, c.sdk.finish["text"])
				c.is("attempts at the backup", c.attempts(i, 1), 1)
			}
		},
	},
	{
		name: "stream cut, not taken over", with: every,
		shows: "with `rescue: off`: an error of the SDK's own type, after the text so far",
		routes: func(_, k kind) []route {
			return []route{{tiers: []tier{{kind: k, fault: "cut@10", mock: twin}, {kind: k, fault: "ok", mock: twin}}, stream: map[string]any{"rescue": "off"}}}
		},
		check: func(c *trial) {
			a, f := c.failed(0, true, question{})
			c.is("code", f.code, c.sdk.codes["cut"])
			if a.text == "" || !strings.HasPrefix(says(c.T, twin), a.text) {
				c.Errorf("before the error: %q", a.text)
			}
			c.is("attempts at the backup", c.attempts(0, 1), 0)
		},
	},
	{
		name: "all dead", with: every,
		shows: "an error of the SDK's own type that says what happened and the id of the call, after one request",
		routes: func(own, k kind) []route {
			return []route{{tiers: []tier{{kind: own, fault: "503", mock: twin}, {kind: k, fault: "503", mock: other}}}}
		},
		check: func(c *trial) {
			for _, streamed := range ways {
				_, f := c.failed(0, streamed, question{})
				c.is("status", f.status, 503)
				c.is("code", f.code, c.sdk.codes["dead"])
				c.isTagged(&f)
				c.is("x-should-retry", c.header("x-should-retry"), "false")
				for i := range 2 {
					if !strings.Contains(f.message, upstream(c.models[0], i)) {
						c.Errorf("the message does not say what became of upstream %d: %s", i, f.message)
					}
				}
			}
		},
	},
	{
		name: "all limited for a long time", with: every,
		shows: "a `retry-after: 90` of the upstreams is neither passed on nor slept",
		routes: func(own, k kind) []route {
			const fault = "429:retry-after=90"
			return []route{{tiers: []tier{{kind: own, fault: fault, mock: twin}, {kind: k, fault: fault, mock: other}}}}
		},
		check: func(c *trial) {
			for n, streamed := range ways { // the first time both say so, after that both are parked
				_, f := c.failed(0, streamed, question{})
				c.is("code", f.code, c.sdk.codes[[]string{"dead", "limited"}[n]])
				c.is("x-should-retry", c.header("x-should-retry"), "false")
				if wait, err := strconv.Atoi(c.header("retry-after")); err != nil || wait > 10 {
					c.Errorf("retry-after: %q", c.header("retry-after"))
				}
			}
			c.is("attempts", c.attempts(0, 0)+c.attempts(0, 1), 2)
		},
	},
	{
		name: "all dead, a template", with: every,
		shows: "a whole answer in the SDK's eyes, plain and streamed",
		routes: func(own, k kind) []route {
			return []route{{tiers: []tier{{kind: own, fault: "503", mock: twin}, {kind: k, fault: "503", mock: other}}, template: true}}
		},
		check: func(c *trial) {
			for _, streamed := range ways {
				a := c.answered(0, streamed, question{})
				c.is("text", a.text, templateText)
				c.is("finish", a.finish, c.sdk.finish["text"])
				c.is("model", a.model, "backstop-template")
				c.is("tier", c.header("x-backstop-tier"), "local")
			}
		},
	},
	{
		name: "tool loop", with: every,
		shows:  "call, result, answer, plain and streamed; the upstream gets both under one id, in its own words",
		routes: func(_, k kind) []route { return append(one(k, "toolcall"), one(k, "ok")...) },
		check: func(c *trial) {
			for _, streamed := range ways {
				called := c.answered(0, streamed, question{tool: true})
				c.isCall(&called)
				a := c.answered(1, streamed, question{tool: true, before: &called, result: "sunny and 21 degrees"})
				c.is("text", a.text, says(c.T, twin))
				c.is("finish", a.finish, c.sdk.finish["text"])
				c.isLoop(c.upstreamOf(1, 0), called.calls[0].arguments)
			}
		},
	},
	{
		name: "keep-alives", with: every,
		shows: "signs of life before the first token and inside a stream disturb nothing",
		routes: func(_, k kind) []route {
			r := append(one(k, "ok"), one(k, "ok")...)
			for i := range r {
				r[i].stream = map[string]any{"keepalive": "20ms"}
			}
			return r
		},
		check: func(c *trial) {
			const afterSomeText = 8 // events, in every dialect
			for i, after := range []int{0, afterSomeText} {
				var once sync.Once
				open := c.gateway.asked.shut(upstream(c.models[i], 0), after)
				c.traffic.kept = func() { once.Do(open) }
				a := c.answered(i, true, question{})
				c.is("text", a.text, says(c.T, twin))
				c.is("finish", a.finish, c.sdk.finish["text"])
			}
		},
	},
	{
		name: "odd but whole streams", with: every,
		shows: "an upstream that forgets the end mark, says no usage, or garbles an event: nothing of it reaches the SDK",
		routes: func(_, k kind) []route {
			r := append(one(k, "malformed@10"), one(k, "usage-none")...)
			if k != aResponse { // whose end mark is also what says how the answer ended
				r = append(r, one(k, "nodone")...)
			}
			return r
		},
		check: func(c *trial) {
			for i := range c.models {
				a := c.answered(i, true, question{})
				c.is("text", a.text, says(c.T, twin))
				c.is("finish", a.finish, c.sdk.finish["text"])
			}
		},
	},
	{
		name: "the length limit, a content filter", with: every,
		shows:  "why an answer ended early, in the SDK's own words, plain and streamed",
		routes: func(_, k kind) []route { return append(one(k, "truncated"), one(k, "refusal:filter")...) },
		check: func(c *trial) {
			for _, streamed := range ways {
				short := c.answered(0, streamed, question{})
				c.is("finish", short.finish, c.sdk.finish["length"])
				c.is("some text", short.text != "", true)
				c.is("finish", c.answered(1, streamed, question{}).finish, c.sdk.finish["filter"])
			}
		},
	},
	{
		name: "a call that is the caller's mistake", with: every,
		shows: "a 400 and the upstream's words; the backup is not asked",
		routes: func(own, k kind) []route {
			return []route{{tiers: []tier{{kind: k, fault: "400:message=no_such_colour", mock: twin}, {kind: own, fault: "ok", mock: twin}}}}
		},
		check: func(c *trial) {
			for _, streamed := range ways {
				_, f := c.failed(0, streamed, question{})
				c.is("status", f.status, 400)
				c.isTagged(&f)
				if !strings.Contains(f.message, "no_such_colour") {
					c.Errorf("the upstream's words are lost: %s", f.message)
				}
				c.is("attempts at the backup", c.attempts(0, 1), 0)
			}
		},
	},
	{
		name: "a wrong key, an unknown model", with: itsOwn,
		shows:  "401 and 404 as the SDK's own errors; no upstream is asked",
		routes: func(_, k kind) []route { return one(k, "ok") },
		check: func(c *trial) {
			there := c.models[0]
			c.models[0] = "nobody"
			for _, streamed := range ways {
				_, f := c.failed(0, streamed, question{})
				c.is("status", f.status, 404)
				c.is("code", f.code, c.sdk.codes["model"])
				c.isTagged(&f)
			}
			c.models[0], c.talker = there, c.open("caller-key-of-somebody-else")
			for _, streamed := range ways {
				_, f := c.failed(0, streamed, question{})
				c.is("status", f.status, 401)
				c.is("code", f.code, c.sdk.codes["key"])
				c.isTagged(&f)
			}
			c.is("attempts", c.attempts(0, 0), 0)
		},
	},
}

// saved sees to it that the backup answered, unnoticed.
func (c *trial) saved(streamed bool) {
	c.Helper()
	a := c.answered(0, streamed, question{})
	c.is("text", a.text, says(c.T, other))
	c.is("finish", a.finish, c.sdk.finish["text"])
	c.is("tier", c.header("x-backstop-tier"), "backup")
	c.is("upstream", c.header("x-backstop-upstream"), upstream(c.models[0], 1))
}

// isTagged sees to it that an error has the call's id where the SDK shows it.
func (c *trial) isTagged(f *failure) {
	c.Helper()
	if id := c.header("x-request-id"); id == "" || f.tag != "" && f.tag != id {
		c.Errorf("the id of the call is %q, the error says %q", id, f.tag)
	}
}

// isCall sees to it that an answer is one call of the tool.
func (c *trial) isCall(a *answer) {
	c.Helper()
	if len(a.calls) != 1 {
		c.Fatalf("%d calls in %+v", len(a.calls), *a)
	}
	var arguments struct{ City string }
	if err := json.Unmarshal([]byte(a.calls[0].arguments), &arguments); err != nil || arguments.City == "" {
		c.Errorf("arguments: %v in %q", err, a.calls[0].arguments)
	}
	c.is("name", a.calls[0].name, toolName)
	c.is("finish", a.finish, c.sdk.finish["tool"])
	if a.calls[0].id == "" && c.sdk.own != aGemini {
		c.Errorf("the call has no id")
	}
}

func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}
