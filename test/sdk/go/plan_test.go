package sdk

import (
	"encoding/json"
	"fmt"
)

// kind is what an upstream speaks.
type kind string

const (
	aChat     kind = "chat"      // OpenAI chat only, as most of that dialect
	aResponse kind = "responses" // OpenAI, and Responses calls as they are
	aMessage  kind = "messages"  // Anthropic
	aGemini   kind = "gemini"
)

const (
	callerKey    = "caller-key-of-the-suite"
	upstreamKey  = "key-of-an-upstream"
	templateText = "The assistant is busy, please try again in a minute."
)

// route is a model name and the upstreams behind it.
type route struct {
	model    string
	tiers    []tier
	template bool           // a last resort
	stream   map[string]any // as in the configuration
}

// tier is one upstream. Its name is the route's and its number: see upstream.
type tier struct {
	kind  kind
	fault string // a word of the mock
	mock  string // twin or other
	brief bool   // it is given up soon: for one that never says anything
}

func upstream(model string, i int) string { return fmt.Sprintf("%s.%d", model, i) }

// configuration is the file of the gateway; JSON is YAML.
func configuration(recorder string, routes []route) []byte {
	type object = map[string]any
	upstreams, list := object{}, []object{}
	for _, r := range routes {
		tiers := []object{}
		for i, t := range r.tiers {
			name := upstream(r.model, i)
			upstreams[name] = t.upstream(recorder + "/" + t.mock + "/" + name)
			tiers = append(tiers, object{"upstream": name, "model": t.fault})
		}
		if r.template {
			tiers = append(tiers, object{"local": object{"template": object{"text": templateText}}})
		}
		one := object{"model": r.model, "tiers": tiers}
		if r.stream != nil {
			one["stream"] = r.stream
		}
		list = append(list, one)
	}
	file, err := json.MarshalIndent(object{
		"admin":   object{"token": "a-token-for-tests-only"},
		"callers": []object{{"name": "suite", "key": callerKey}},
		// Nothing is given up because the machine is slow.
		"defaults":  object{"allow_private": true, "proxy": "off", "key": upstreamKey, "timeouts": object{"connect": "60s", "first_token": "60s", "idle": "60s"}},
		"upstreams": upstreams, "routes": list,
		"drain": object{"delay": "0s", "limit": "10s"}, "log": object{"format": "json"},
	}, "", " ")
	if err != nil {
		panic(err)
	}
	return file
}

func (t tier) upstream(base string) map[string]any {
	u := map[string]any{"dialect": "openai", "base_url": base + "/v1"}
	switch t.kind {
	case aResponse:
		u["vendor"] = "openai" // whose profile says that it serves them
	case aMessage:
		u["dialect"], u["vendor"], u["base_url"] = "anthropic", "anthropic", base
	case aGemini:
		u["dialect"], u["vendor"], u["base_url"] = "gemini", "gemini", base
	}
	if t.brief {
		u["timeouts"] = map[string]any{"first_token": "300ms"}
	}
	return u
}
