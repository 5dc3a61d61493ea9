package config

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"backstop"
	"backstop/internal/config/tree"
	"backstop/internal/config/value"
)

// routeSpec is one route as it was written.
type routeSpec struct {
	at          *tree.Node
	spoiled     bool // a key of it could not be read: what is missing is not reported
	model       field[string]
	tiers       []*tierSpec
	tiersAt     *tree.Node
	deadline    field[time.Duration] // 0 = auto
	promise     field[string]
	jsonSchema  field[string]
	repair      field[bool]
	invalid     field[string]
	truncated   field[string]
	rescue      field[string]
	keepalive   field[time.Duration]
	hedge       field[hedgeAfter]
	refusal     field[string]
	sameVectors field[bool]
}

type tierSpec struct {
	at       *tree.Node
	upstream field[string]
	model    field[string]
	context  field[int]
	rate     field[float64]
	local    *localSpec
}

type localSpec struct {
	at       *tree.Node
	cacheAt  *tree.Node
	age      field[time.Duration]
	size     field[int64]
	template *tree.Node
	text     field[string]
	json     field[[]byte]
}

type hedgeAfter struct {
	after time.Duration
	auto  bool
}

var routeCard = backstop.DefaultRoute()

func (rt *routeSpec) keys() mapping {
	return mapping{
		{"model", text(&rt.model), "required", "Model name of callers: a name, a pattern such as `gpt-*`, or `*`."},
		{"tiers", list{what: "tiers", most: maxTiers, add: rt.addTier, item: new(tierSpec).keys(), then: func(n *tree.Node) { rt.tiersAt = n }}, "required", "Primary, backups, local tiers, in this order."},
		{"deadline", deadline(&rt.deadline), "auto", "From accept to the first token of the answer, over all tiers; `auto`: the tiers' first_token together and " + span(backstop.DeadlineSlack) + "."},
		{"json", mapping{
			{"promise", oneOf(&rt.promise, "auto", "always"), "auto", "`auto`: the request says whether JSON was promised; `always`: every answer is."},
			{"schema", text(&rt.jsonSchema), "none", "File with a JSON Schema that answers must follow."},
			{"repair", toggle(&rt.repair), strconv.FormatBool(routeCard.JSON.Repair), "Repair JSON that does not parse."},
			{"invalid", oneOf(&rt.invalid, "reask", "next", "error"), routeCard.JSON.Invalid, "What follows JSON that stays invalid."},
			{"truncated", oneOf(&rt.truncated, "next", "mark"), routeCard.JSON.Truncated, "What follows JSON that was cut off."},
		}, "", "Promised JSON."},
		{"stream", mapping{
			{"rescue", oneOf(&rt.rescue, "splice", "continue", "off"), routeCard.Stream.Rescue, "What happens to a stream that breaks after its first token."},
			{"keepalive", duration(&rt.keepalive), span(routeCard.Stream.Keepalive), "Comments to the caller while nothing else can be sent; 0 = none."},
		}, "", "Streams."},
		{"hedge", mapping{
			{"after", hedge(&rt.hedge), "0", "Start a second tier after this time: a duration, or `auto` (1.5 times the p95 first token); 0 = off."},
		}, "", "A second tier before the first has failed."},
		{"refusal", oneOf(&rt.refusal, "return", "next"), "return", "`next`: content filters and refusals go on to the next tier."},
		{"same_vectors", toggle(&rt.sameVectors), strconv.FormatBool(routeCard.SameVectors), "Embeddings may go to a tier with another model name."},
	}
}

func (rt *routeSpec) addTier(r *reader, n *tree.Node) {
	t := &tierSpec{at: n}
	t.keys().take(r, n)
	rt.tiers = append(rt.tiers, t)
}

func (t *tierSpec) keys() mapping {
	return mapping{
		{"upstream", text(&t.upstream), "none", "Name of the upstream."},
		{"model", text(&t.model), "as asked", "Model name that is sent."},
		{"context", whole(&t.context), "unknown", "Tokens that the model takes. A call refused as too long goes only to a tier declared larger."},
		{"rate", rate(&t.rate), strconv.FormatFloat(backstop.DefaultFallbackRate, 'f', -1, 64) + "/s after the first tier", "Most attempts per time on this tier, used where a lower tier exists; 0 = no limit."},
		{"local", localTaker{t}, "none", "A tier that needs no network: a cache or a template."},
	}
}

// localTaker makes a local tier only where the file has one.
type localTaker struct{ t *tierSpec }

func (l localTaker) keys() mapping {
	s := l.t.local
	if s == nil {
		s = new(localSpec)
	}
	return mapping{
		{"cache", noted{&s.cacheAt, mapping{
			{"age", duration(&s.age), span(backstop.DefaultCacheAge), "Oldest answer that is served."},
			{"size", size(&s.size), strconv.Itoa(backstop.DefaultCacheSize>>20) + "MiB", "Most memory of the route's answers."},
		}}, "none", "Last good answer to the same request, per caller, in memory."},
		{"template", noted{&s.template, mapping{
			{"text", text(&s.text), "required", "The answer. `{{request_id}} {{route}} {{model}} {{reason}}` are filled in."},
			{"json", jsonTaker{&s.json}, "none", "The answer to calls that were promised JSON; without it they skip the tier."},
		}}, "none", "A fixed answer; no limit holds it back."},
	}
}

func (l localTaker) take(r *reader, n *tree.Node) {
	l.t.local = &localSpec{at: n}
	l.keys().take(r, n)
}

func (l localTaker) shape() shape { return localTaker{new(tierSpec)}.keys().shape() }

// noted reads a mapping and remembers that it was there.
type noted struct {
	into **tree.Node
	mapping
}

func (t noted) take(r *reader, n *tree.Node) {
	*t.into = n
	t.mapping.take(r, n)
}

const autoOrDuration = `^(auto|0|off|([0-9.]+(ms|s|m|h))+|` + reference + `)$`

// deadline reads a duration or auto, which is kept as 0.
func deadline(into *field[time.Duration]) taker {
	return scalar[time.Duration]{into, "a duration or auto", func(s string) (time.Duration, error) {
		if strings.EqualFold(s, "auto") {
			return 0, nil
		}
		d, err := value.Duration(s)
		if err == nil && d == 0 {
			err = &value.Fault{Message: "is no deadline", Hint: "a call must end: write a duration or auto"}
		}
		return d, orAuto(err)
	}, pattern(autoOrDuration)}
}

func hedge(into *field[hedgeAfter]) taker {
	return scalar[hedgeAfter]{into, "a duration or auto", func(s string) (hedgeAfter, error) {
		if strings.EqualFold(s, "auto") {
			return hedgeAfter{auto: true}, nil
		}
		d, err := value.Duration(s)
		return hedgeAfter{after: d}, orAuto(err)
	}, pattern(autoOrDuration)}
}

func orAuto(err error) error {
	var f *value.Fault
	if errors.As(err, &f) && f.Message == "is not a duration" {
		return &value.Fault{Message: "is neither a duration nor auto", Hint: f.Hint}
	}
	return err
}
