package observe

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"backstop"
)

// The names of OpenTelemetry's conventions for generative AI (semantic
// conventions 1.40), which are still marked as in development there.
const (
	opKey       = "gen_ai.operation.name"
	vendorKey   = "gen_ai.provider.name"
	askedKey    = "gen_ai.request.model"
	answeredKey = "gen_ai.response.model"
	inputKey    = "gen_ai.usage.input_tokens"
	outputKey   = "gen_ai.usage.output_tokens"
	tokenKey    = "gen_ai.token.type"
	errorKey    = "error.type"
	upstreamKey = "backstop.upstream"
)

// opWord is the convention's word for an operation.
func opWord(op string) string {
	switch op {
	case "chat", "agent", "":
		return "chat"
	case "completion":
		return "text_completion"
	case "embedding":
		return "embeddings"
	}
	return safe(op)
}

// vendorWords are the convention's words for vendors that it has one for; the
// others keep the name of their profile.
var vendorWords = map[string]string{
	"azure-openai": "azure.ai.openai", "gemini": "gcp.gemini", "vertex": "gcp.vertex_ai", "bedrock": "aws.bedrock",
	"mistral": "mistral_ai", "xai": "x_ai",
}

func vendorWord(u *backstop.Upstream) string {
	switch word := vendorWords[u.Vendor]; {
	case word != "":
		return word
	case u.Vendor == "" || u.Vendor == "generic":
		return map[backstop.Dialect]string{backstop.Anthropic: "anthropic", backstop.Gemini: "gcp.gemini"}[u.Dialect]
	}
	return u.Vendor
}

// vendor is whose model an upstream is; our own answers are ours.
func (n *names) vendor(upstream string) string {
	switch word := n.vendors[upstream]; {
	case word != "":
		return word
	case upstream == "template" || upstream == "cache":
		return "backstop"
	}
	return "openai" // nobody's profile, in OpenAI's dialect
}

// Buckets of the convention: seconds of an operation, seconds to and between
// tokens, tokens.
var (
	operationBuckets = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	toFirstBuckets   = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	betweenBuckets   = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5}
	usageBuckets     = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// genAI are the convention's metrics: as the server of our callers, and as the
// client of upstreams. Their labels are config names and fixed words.
type genAI struct {
	request, toFirst, between, operation metric.Float64Histogram
	usage                                metric.Int64Histogram
}

func newGenAI(m metric.Meter) *genAI {
	seconds := func(name, about string, buckets []float64) metric.Float64Histogram {
		h, _ := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(buckets...))
		return h // never nil; an error would be about the name, which a test checks
	}
	g := &genAI{
		request:   seconds("gen_ai.server.request.duration", "Accept to last byte of a call.", operationBuckets),
		toFirst:   seconds("gen_ai.server.time_to_first_token", "Accept to the first token of the answer.", toFirstBuckets),
		between:   seconds("gen_ai.server.time_per_output_token", "Time per output token after the first.", betweenBuckets),
		operation: seconds("gen_ai.client.operation.duration", "Duration of one attempt at an upstream.", operationBuckets),
	}
	g.usage, _ = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of one attempt, as the upstream reported them."), metric.WithExplicitBucketBoundaries(usageBuckets...))
	return g
}

func (g *genAI) call(n *names, e *backstop.Event) {
	ctx := context.Background()
	list := attributes{
		attribute.String(opKey, opWord(e.Op)), attribute.String(vendorKey, n.vendor(e.Upstream)),
		attribute.String(askedKey, n.model(e.Asked)), attribute.String(answeredKey, n.model(e.Model)),
	}
	if e.Failure == nil && e.FirstToken > 0 {
		with := metric.WithAttributeSet(attribute.NewSet(list...))
		g.toFirst.Record(ctx, e.FirstToken.Seconds(), with)
		if rest := e.Duration - e.FirstToken; e.Stream && e.OutputTokens > 1 && rest > 0 {
			g.between.Record(ctx, rest.Seconds()/float64(e.OutputTokens-1), with)
		}
	}
	if e.Failure != nil {
		list.text(errorKey, string(e.Failure.Code))
	}
	g.request.Record(ctx, e.Duration.Seconds(), metric.WithAttributeSet(attribute.NewSet(list...)))
	for i := range e.Attempts {
		g.attempt(ctx, n, opWord(e.Op), &e.Attempts[i])
	}
}

func (g *genAI) attempt(ctx context.Context, n *names, op string, a *backstop.AttemptRecord) {
	list := attributes{
		attribute.String(opKey, op), attribute.String(vendorKey, n.vendor(a.Upstream)),
		attribute.String(askedKey, n.model(a.Model)), attribute.String(upstreamKey, n.upstream(a.Upstream)),
	}
	for kind, tokens := range map[string]int{"input": a.Outcome.InputTokens, "output": a.Outcome.OutputTokens} {
		if tokens > 0 {
			with := append(list[:len(list):len(list)], attribute.String(tokenKey, kind))
			g.usage.Record(ctx, int64(tokens), metric.WithAttributeSet(attribute.NewSet(with...)))
		}
	}
	if a.Outcome.Class != backstop.OK {
		list.text(errorKey, a.Outcome.Reason())
	}
	g.operation.Record(ctx, a.Duration.Seconds(), metric.WithAttributeSet(attribute.NewSet(list...)))
}
