package cases

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Lines A of the checklist, for callers of every dialect.

const page = "<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>"

func TestChecklistA1AnswersAreAlwaysJSONAndNeverAPage(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		t.Run("whatever the upstream calls it", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, up, caller, func(x *exchange) { x.answer(200, "text/plain", up.whole(primaryVoice, "ab", up.stop)) })
			g := start(t, setup{primary: p, backup: b})
			g.ask(call{fixture: caller}).success("primary", "ab") // its content type is checked with every answer
			g.ask(call{fixture: caller, stream: true}).success("primary", "ab")
		})
		t.Run("a page", func(t *testing.T) {
			t.Parallel()
			p := newFakeOf(t, "primary", up, nil)
			g := start(t, setup{primary: p, primaryYAML: patient + "retry: {max: 0}\n"})
			for _, code := range []int{200, 404, 500, 502, 504, 403} { // the last one parks
				p.play(func(x *exchange) { x.answer(code, "text/html", page) })
				for _, stream := range bothForms {
					a := g.ask(call{fixture: caller, stream: stream})
					if r := a.read(); r.kind != "http-error" || a.status < 400 || strings.Contains(a.body(), "<") || strings.Contains(a.body(), "Bad gateway") {
						t.Errorf("status %d: want an error that is no page\n%s", code, a.show())
					}
				}
			}
		})
	})
}

func TestChecklistA2AnErrorOrNothingInA200GoesToTheNextTier(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b, primaryYAML: patient})
		for name, row := range map[string]struct{ body, outcome string }{
			"an error":       {up.busyBody, "broken/overload"},
			"no bytes":       {"", "garbled/empty"},
			"blanks":         {"\n\n \n", "garbled/empty"},
			"a text":         {"OK", "garbled/protocol"},
			"a page":         {page, "garbled/html"},
			"half an answer": {up.whole(primaryVoice, "ab", up.stop)[:60], "garbled/protocol"},
			"another object": {`{"ok":true}`, "garbled/protocol"},
			"a list":         {`[]`, "garbled/protocol"},
		} {
			p.play(status(200, row.body))
			for form, stream := range bothForms {
				a := g.ask(call{fixture: caller, stream: stream})
				if a.fromBackup(row.outcome); t.Failed() {
					t.Fatalf("that was %s, %s", name, form)
				}
				a.tried("primary", row.outcome)
			}
		}
	})
}

func TestChecklistA3LocalAnswersHaveEveryField(t *testing.T) {
	t.Parallel()
	fields := map[string][]string{
		"chat":      {"id", "object", "created", "model", "choices.0.index", "choices.0.message.role", "choices.0.message.content", "choices.0.finish_reason", "usage.prompt_tokens", "usage.completion_tokens", "usage.total_tokens"},
		"responses": {"id", "object", "created_at", "status", "model", "output.0.type", "output.0.id", "output.0.status", "output.0.role", "output.0.content.0.type", "output.0.content.0.text", "output.0.content.0.annotations", "usage.input_tokens", "usage.output_tokens", "usage.total_tokens"},
		"messages":  {"id", "type", "role", "model", "content.0.type", "content.0.text", "stop_reason", "usage.input_tokens", "usage.output_tokens"},
		"gemini":    {"candidates.0.content.role", "candidates.0.content.parts.0.text", "candidates.0.finishReason", "candidates.0.index", "usageMetadata.totalTokenCount", "modelVersion", "responseId"},
	}
	everyFixture(t, func(t *testing.T, l *fixture) {
		has := func(t *testing.T, a *answer) {
			t.Helper()
			var v any
			_ = json.Unmarshal([]byte(a.body()), &v)
			for _, path := range fields[l.name] {
				if dig(v, path) == nil {
					t.Errorf("there is no %s\n%s", path, a.show())
				}
			}
		}
		t.Run("the template", func(t *testing.T) {
			t.Parallel()
			p := newFakeOf(t, "primary", l, status(503, `{}`))
			g := start(t, setup{primary: p, template: "busy"})
			for _, stream := range bothForms {
				a := g.ask(call{fixture: l, stream: stream})
				if r := a.success("local", "busy"); r.finish != l.stop || len(r.models) != 1 || r.models[0] != "backstop-template" || len(r.ids) != 1 || r.tail == nil {
					t.Errorf("finish %q, models %q, ids %q, note %v\n%s", r.finish, r.models, r.ids, r.tail, a.show())
				}
				if !stream {
					has(t, a)
				}
			}
		})
		t.Run("the cache", func(t *testing.T) {
			t.Parallel()
			p := newFakeOf(t, "primary", l, inTurn(l.healthy(primaryVoice, "ab"), status(503, `{}`)))
			g := start(t, setup{primary: p, local: "- local: {cache: {age: 1h, size: 1MiB}}\n"})
			g.ask(call{fixture: l}).success("primary", "ab")
			a := g.ask(call{fixture: l})
			if a.success("local", "ab"); a.header.Get("X-Backstop-Upstream") != "cache" || a.header.Get("X-Backstop-Stale") == "" {
				t.Errorf("it does not say that it is stale\n%s", a.show())
			}
			has(t, a)
			g.ask(call{fixture: l, stream: true}) // another request, or the same in another form: the rules of every answer hold
		})
	})
}

// dig finds a value by its path.
func dig(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			if len(x) == 0 || name != "0" {
				return nil
			}
			v = x[0]
		default:
			return nil
		}
	}
	return v
}

// That both headers are there is one of the rules of every answer; here they
// are compared, on answers of all kinds.
func TestChecklistA4EveryAnswerHasItsIDTwice(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, l *fixture) {
		p, b := pairOf(t, l, l, nil)
		g := start(t, setup{primary: p, backup: b, topYAML: "callers:\n  - {name: web, key: " + callerKey + "}\n"})
		key := keyOf("X-Api-Key", callerKey)
		for name, row := range map[string]struct {
			script script
			call   call
		}{
			"an answer":              {l.healthy(primaryVoice, "ab"), call{header: key}},
			"a stream":               {l.healthy(primaryVoice, "ab"), call{stream: true, header: key}},
			"a stream that breaks":   {streamed(append(l.begun(primaryVoice, "a"), l.busy)...), call{stream: true, header: key}},
			"a mistake":              {status(400, `{"error":{"message":"x","type":"invalid_request_error","code":null}}`), call{header: key}},
			"a body that is no JSON": {l.healthy(primaryVoice, "ab"), call{body: "{", header: key}},
			"no key":                 {l.healthy(primaryVoice, "ab"), call{}},
		} {
			p.play(row.script)
			row.call.fixture = l
			a := g.ask(row.call)
			id := a.header.Get("X-Request-Id")
			if id == "" || id != a.header.Get("Request-Id") || len(a.header.Values("X-Request-Id")) != 1 {
				t.Errorf("%s: ids %q and %q", name, id, a.header.Values("Request-Id"))
			}
			if l == &messagesFixture && a.status >= 400 && !strings.Contains(a.body(), `"request_id":"`+id+`"`) && a.status != 400 {
				t.Errorf("%s: the id is not in the body\n%s", name, a.show())
			}
		}
		named := g.ask(call{fixture: l, header: map[string]string{"X-Api-Key": callerKey, "X-Request-Id": "mine-1"}})
		if named.header.Get("X-Request-Id") != "mine-1" || named.header.Get("Request-Id") != "mine-1" {
			t.Errorf("the caller's own id is %q", named.header.Get("X-Request-Id"))
		}
	})
}

// aSchema is a schema with nothing in it that a dialect would not take.
const aSchema = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`

func TestChecklistA6PromisedJSONNeedsOneRequest(t *testing.T) {
	t.Parallel()
	damaged := map[string]string{
		"fenced":           "```json\n{\"a\": 1}\n```",
		"with words first": "Here it is:\n{\"a\": 1}",
		"with words after": "{\"a\": 1}\n\nHope this helps!",
		"without quotes":   `{a: 1}`,
		"with a comma":     `{"a": 1,}`,
	}
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b, routeYAML: "json: {invalid: next}\n"})
		for name, text := range damaged {
			for form, stream := range bothForms {
				p.play(up.healthy(primaryVoice, strings.SplitAfter(text, "\n")...))
				a := g.ask(call{fixture: caller, stream: stream, body: caller.withJSON(stream, aSchema)})
				if r := a.read(); r.kind != "success" || !sameJSON(r.text, `{"a":1}`) || a.tier() != "primary" {
					t.Errorf("%s, %s: got %s %q\n%s", name, form, r.kind, r.text, a.show())
				}
			}
		}
		p.saw(2 * len(damaged))
		b.saw(0)
		p.play(up.healthy(primaryVoice, "no JSON at all, sorry"))
		b.play(caller.healthy(backupVoice, `{"a":2}`))
		for form, stream := range bothForms {
			a := g.ask(call{fixture: caller, stream: stream, body: caller.withJSON(stream, aSchema)})
			if r := a.read(); r.kind != "success" || r.text != `{"a":2}` || a.tier() != "backup" {
				t.Errorf("beyond repair, %s: got %s %q\n%s", form, r.kind, r.text, a.show())
			}
		}
	})
}

func TestChecklistA7NothingIsRepairedThatWasNotPromised(t *testing.T) {
	t.Parallel()
	texts := []string{"```json\n{\"a\": 1}\n```", "{\"a\": 1,}", "Here: {a: 1}", "{\"a\":\"Jo"}
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b})
		for _, text := range texts {
			for _, stream := range bothForms {
				p.play(up.healthy(primaryVoice, strings.SplitAfter(text, " ")...))
				g.ask(call{fixture: caller, stream: stream}).success("primary", text)
				a := g.ask(call{fixture: caller, stream: stream, body: caller.withTool(stream)}) // a text beside tools
				a.success("primary", text)
				if a.header.Get("X-Backstop-Repaired") != "" {
					t.Errorf("repaired: %s\n%s", a.header.Get("X-Backstop-Repaired"), a.show())
				}
			}
		}
		if n := g.metric("backstop_json_repairs_total"); n != 0 {
			t.Errorf("%g repairs are counted", n)
		}
	})
}

func TestChecklistA8SchemasOfAnyDraftAndLookAheadFailNoRequest(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{
		"draft-07":     `{"$schema":"http://json-schema.org/draft-07/schema#",` + aSchema[1:],
		"2020-12":      `{"$schema":"https://json-schema.org/draft/2020-12/schema",` + aSchema[1:],
		"look-ahead":   `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","pattern":"^(?!x)"}},"required":["a"],"additionalProperties":false}`,
		"a bad regexp": `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","pattern":"("}},"required":["a"]}`,
		"a bad type":   `{"type":"objekt"}`,
		"far away":     `{"$ref":"https://example.com/schema.json"}`,
	}
	everyFixture(t, func(t *testing.T, l *fixture) {
		p, b := pairOf(t, l, l, l.healthy(primaryVoice, `{"a":1}`))
		g := start(t, setup{primary: p, backup: b})
		for name, schema := range schemas {
			for _, stream := range bothForms {
				a := g.ask(call{fixture: l, stream: stream, body: l.withJSON(stream, schema)})
				if r := a.read(); r.kind != "success" || r.text != `{"a":1}` {
					t.Errorf("%s: got %s %q\n%s", name, r.kind, r.text, a.show())
				}
			}
		}
		p.saw(2 * len(schemas))
		b.saw(0)
	})
}

// Lines E of the checklist.

func TestChecklistE1ErrorsHaveTheShapeAndClassOfEachDialect(t *testing.T) {
	t.Parallel()
	types := map[string]map[int]string{
		"messages": {400: "invalid_request_error", 404: "not_found_error", 413: "request_too_large", 422: "invalid_request_error", 429: "rate_limit_error", 500: "api_error", 503: "overloaded_error", 529: "overloaded_error", 504: "api_error"},
		"gemini":   {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 413: "INVALID_ARGUMENT", 422: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 500: "UNAVAILABLE", 503: "UNAVAILABLE", 529: "UNAVAILABLE", 504: "UNAVAILABLE"},
	}
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p := newFakeOf(t, "primary", up, nil)
		g := start(t, setup{primary: p, primaryYAML: patient})
		for _, code := range []int{400, 404, 413, 422, 500, 503, 504, 529, 429} { // the last one parks
			p.play(status(code, `{"error":{"message":"that will not do","type":"invalid_request_error","code":null}}`))
			for _, stream := range bothForms {
				a := g.ask(call{fixture: caller, stream: stream})
				want := code
				switch code {
				case 500, 504: // an upstream's fault; a gateway's statuses stand for it
					want = http.StatusBadGateway
				}
				r := a.read()
				if r.kind != "http-error" || a.status != want || r.fault.Type == nil {
					t.Errorf("%d: got %s, want an error %d\n%s", code, r.kind, want, a.show())
					return
				}
				if word := types[caller.name][code]; word != "" && *r.fault.Type != word {
					t.Errorf("status %d is %s, want %s\n%s", code, *r.fault.Type, word, a.show())
				}
			}
		}
	})
}

func TestChecklistE2FinalErrorsSayThatTheyAre(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, l *fixture) {
		for agent, row := range map[string]struct {
			signal string
			status int
		}{
			"OpenAI/JS 7.59.0":           {"adaptive", 503},
			"ai/7.0.173 ai-sdk/openai":   {"adaptive", 424},
			"langchainjs-openai/1.0.0":   {"adaptive", 429},
			"ai/7.0.173 ai-sdk/fixed":    {"fixed", 503},
			"langchainjs-openai/1.0.0 f": {"fixed", 503},
		} {
			t.Run(agent, func(t *testing.T) {
				t.Parallel()
				p := newFakeOf(t, "primary", l, status(503, `{"error":{"message":"x"}}`))
				b := newFakeOf(t, "backup", l, status(503, `{"error":{"message":"x"}}`))
				g := start(t, setup{primary: p, backup: b, topYAML: "errors: {retry_signal: " + row.signal + "}\n"})
				for _, stream := range bothForms {
					// What the body says is the true cause: it need not be the status then.
					a := g.ask(call{fixture: l, theirs: true, stream: stream, header: map[string]string{"User-Agent": agent}})
					if a.header.Get("X-Should-Retry") != "false" || a.status != row.status || a.header.Get("Retry-After") != "" {
						t.Errorf("status %d, want %d and a final error\n%s", a.status, row.status, a.show())
					}
				}
			})
		}
	})
}

func TestChecklistE3DelaysAreClamped(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, l *fixture) {
		for _, named := range []string{"Retry-After: 90", "Retry-After: 4236", "retry-after-ms: 105340000"} {
			t.Run(named, func(t *testing.T) {
				t.Parallel()
				p := newFakeOf(t, "primary", l, status(429, `{"error":{"type":"rate_limit_error","message":"m","code":429,"status":"RESOURCE_EXHAUSTED"}}`, named))
				g := start(t, setup{primary: p})
				for _, stream := range bothForms { // the second finds the park
					a := g.ask(call{fixture: l, stream: stream})
					a.refused(http.StatusTooManyRequests, "rate_limited")
					if a.header.Get("Retry-After") != "10" || a.header.Get("Retry-After-Ms") != "10000" {
						t.Errorf("want 10 s\n%s", a.show())
					}
				}
				p.saw(1)
			})
		}
	})
}

// That no answer has a key, an address or Go's own words in it is one of the
// rules of every answer; here upstreams give away what they can.
func TestChecklistE4NoErrorGivesAnythingAway(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p := newFakeOf(t, "primary", up, nil)
		g := start(t, setup{primary: p, primaryYAML: patient})
		for _, code := range []int{400, 401, 402, 403, 404, 422, 429, 500, 503} {
			for _, leak := range []string{primaryKey, "Bearer " + primaryKey, "http://u:" + primaryKey + "@" + p.addr() + "/hidden-primary", "goroutine 1 [running]: main.go:7 dial tcp " + p.addr()} {
				p.play(status(code, `{"type":"error","error":{"type":"invalid_request_error","code":null,"status":"INVALID_ARGUMENT","message":`+quote("bad: "+leak)+`}}`, "Set-Cookie: k="+primaryKey, "Server: "+p.addr(), "X-Key: "+primaryKey))
				theirs := code == 400 || code == 404 || code == 422
				a := g.ask(call{fixture: caller, theirs: theirs})
				if r := a.read(); !theirs && (r.kind != "http-error" || strings.Contains(a.body(), "bad:")) {
					t.Errorf("%d: want an error in our own words\n%s", code, a.show())
				}
			}
		}
	})
}
