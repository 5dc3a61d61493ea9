package config

import (
	"strconv"
	"time"

	"backstop"
	"backstop/internal/config/tree"
	"backstop/internal/config/value"
	"backstop/secret"
)

// upstreamSpec is one upstream as it was written, with the defaults merged in.
type upstreamSpec struct {
	name string
	at   *tree.Node // its name

	spoiled bool // a key of it could not be read: what is missing is not reported

	dialect, vendor, baseURL, account, auth field[string]
	key                                     field[secret.Value]
	keyList                                 []field[secret.Value]
	headers, query                          map[string]field[string]
	allowPrivate                            field[bool]
	proxy, ca                               field[string]
	connect, firstToken, idle, total        field[time.Duration]
	drip                                    field[int]
	breaker                                 breakerSpec
	trial                                   *breakerSpec
	retryMax                                field[int]
	jitter                                  field[value.Range]
	budget                                  field[float64]
	wait                                    field[time.Duration]
	rate                                    field[float64]
	burst, inflight                         field[int]
	unary                                   field[string]
	quirks                                  quirksSpec
	passthrough                             field[bool]
}

type breakerSpec struct {
	failures      field[int]
	window, reset field[time.Duration]
	hang          field[bool]
	probe         field[string]
}

type quirksSpec struct {
	dropParams       field[[]string]
	renameParams     map[string]field[string]
	setParams        map[string]field[any]
	toolIDMax        field[int]
	noTools, prefill field[bool]
	reasoning        field[string]
}

// vendorNames are the profile names of the contract.
var vendorNames = []string{"auto", "generic", "openai", "azure-openai", "anthropic", "gemini", "vertex", "bedrock", "mistral", "groq",
	"together", "openrouter", "xai", "cohere", "deepseek", "dashscope", "zhipu", "moonshot", "minimax", "ark", "qianfan", "hunyuan",
	"siliconflow", "stepfun", "ollama", "vllm", "llama.cpp", "lmstudio", "tgi", "litellm", "one-api"}

var card = backstop.DefaultUpstream()

func (u *upstreamSpec) keys() mapping {
	return mapping{
		{"dialect", oneOf(&u.dialect, "openai", "anthropic", "gemini"), string(card.Dialect), "Wire format."},
		{"vendor", oneOf(&u.vendor, vendorNames...), "auto", "Whose error codes and habits; `auto`: by the host of base_url."},
		{"base_url", text(&u.baseURL), "required", "As the vendor's SDK takes it: the OpenAI dialect with /v1, anthropic and gemini without a version path."},
		{"key", credential{&u.key}, "none", "Credential. None: no credential is sent."},
		{"keys", credentials(&u.keyList), "none", "Several credentials, used in order; each is parked on its own unless they share an account."},
		{"account", text(&u.account), "none", "Upstreams and keys of one account share rate-limit parks."},
		{"auth", oneOf(&u.auth, "auto", "bearer", "x-api-key", "api-key", "x-goog-api-key"), "auto", "Header that carries the key; `auto`: what the vendor takes."},
		{"headers", textMap(&u.headers, "headers"), "none", "Added to every request; not for credentials."},
		{"query", textMap(&u.query, "query parameters"), "none", "Added to every URL, e.g. `api-version`."},
		{"allow_private", toggle(&u.allowPrivate), strconv.FormatBool(card.AllowPrivate), "Permits loopback and private addresses (a local model server)."},
		{"proxy", text(&u.proxy), card.Proxy, "`env`, `off` or the URL of a proxy."},
		{"ca", text(&u.ca), "system roots", "File with a private CA in PEM."},
		{"timeouts", u.timeoutKeys(), "", "The clocks of an attempt."},
		{"breaker", u.breakerKeys(), "", "When the upstream is left alone."},
		{"retry", mapping{
			{"max", whole(&u.retryMax), strconv.Itoa(card.Retry.Max), "Second tries of a call at this upstream, after a reset or 5xx before the first token."},
			{"jitter", scalar[value.Range]{&u.jitter, "a range of durations", value.Jitter, pattern(rangePattern)}, span(card.Retry.JitterMin) + "-" + span(card.Retry.JitterMax), "Wait before a second try."},
			{"budget", share(&u.budget), percent(card.Retry.Budget), "Share of successes that may be tried again."},
			{"wait", duration(&u.wait), "0", "Longest delay named by the upstream that is sat out, once a call, while another tier is free."},
		}, "", "Second tries at the same upstream."},
		{"limits", mapping{
			{"rate", rate(&u.rate), "0", "Most attempts per time, e.g. `50/s`; 0 = no limit. What exceeds a limit slides down a tier."},
			{"burst", whole(&u.burst), strconv.Itoa(card.Limits.Burst), "Attempts that may come at once within the rate."},
			{"inflight", whole(&u.inflight), strconv.Itoa(card.Limits.Inflight), "Most attempts at a time; 0 = no limit."},
		}, "", "Bounds of all attempts at the upstream."},
		{"unary", oneOf(&u.unary, "stream", "plain"), string(card.Unary), "How a call that wants one body is asked: `stream` sees a hang at its first missing token, `plain` asks for one body."},
		{"quirks", u.quirks.keys(), "", "Words over the vendor profile's."},
		{"passthrough", toggle(&u.passthrough), strconv.FormatBool(card.Passthrough), "Other /v1 paths go to this upstream as they are."},
	}
}

func (u *upstreamSpec) timeoutKeys() mapping {
	return mapping{
		{"connect", duration(&u.connect), span(card.Timeouts.Connect), "Until the connection stands."},
		{"first_token", duration(&u.firstToken), span(card.Timeouts.FirstToken), "Until the first meaningful token; " + span(backstop.SilentFirstToken) + " for models that think silently."},
		{"idle", duration(&u.idle), span(card.Timeouts.Idle), "Between two meaningful tokens; 0 = no limit, but an answer that is whole has 10 s to end its stream."},
		{"total", duration(&u.total), span(card.Timeouts.Total), "The whole attempt; 0 = no limit."},
		{"drip", whole(&u.drip), strconv.Itoa(card.Timeouts.Drip), "Fewest content bytes per second over 10 s; 0 = off."},
	}
}

func (u *upstreamSpec) breakerKeys() mapping {
	m := u.breaker.keys()
	return append(m, key{"trial", trialTaker{u}, "none", "A second setting that is evaluated but never acts."})
}

func (b *breakerSpec) keys() mapping {
	return mapping{
		{"failures", whole(&b.failures), strconv.Itoa(card.Breaker.Failures), "Consecutive failures that open the breaker; grows with the base error rate."},
		{"window", duration(&b.window), span(card.Breaker.Window), "Time in which they must fall."},
		{"reset", duration(&b.reset), span(card.Breaker.Reset), "Longest time before a live call may try again."},
		{"hang", toggle(&b.hang), strconv.FormatBool(card.Breaker.Hang), "Open on several calls that wait without a token, before their own limit."},
		{"probe", oneOf(&b.probe, "synthetic", "shadow", "live"), string(card.Breaker.Probe), "Who finds out that an open upstream is back: a tiny call of our own, a copy of a recent call, or a caller's call."},
	}
}

// trialTaker makes the second setting only where the file has one.
type trialTaker struct{ u *upstreamSpec }

func (t trialTaker) take(r *reader, n *tree.Node) {
	if t.u.trial == nil {
		t.u.trial = new(breakerSpec)
	}
	t.u.trial.keys().take(r, n)
}

func (t trialTaker) shape() shape { return new(breakerSpec).keys().shape() }

func (q *quirksSpec) keys() mapping {
	return mapping{
		{"drop_params", texts(&q.dropParams, "parameter names"), "none", "Parameters that are left out."},
		{"rename_params", textMap(&q.renameParams, "parameters"), "none", "Parameters that are sent under another name."},
		{"set_params", valueMap(&q.setParams), "none", "Parameters that are always sent with this value."},
		{"tool_id_max", whole(&q.toolIDMax), strconv.Itoa(card.Quirks.ToolIDMax), "Longest tool-call id that the upstream takes."},
		{"no_tools", toggle(&q.noTools), strconv.FormatBool(card.Quirks.NoTools), "Calls with tools skip the upstream."},
		{"prefill", toggle(&q.prefill), strconv.FormatBool(card.Quirks.Prefill), "The upstream goes on with a text that it is given."},
		{"reasoning_content", oneOf(&q.reasoning, "optional", "required"), card.Quirks.ReasoningContent, "Whether reasoning of earlier turns must be sent back."},
	}
}

// own forgets inherited keys when the upstream brings credentials of its own.
func (u *upstreamSpec) own(body *tree.Node) {
	if body.Get("key") != nil || body.Get("keys") != nil {
		u.key, u.keyList = field[secret.Value]{}, nil
	}
}

// textMap reads names with texts; later reads add to earlier ones. The values
// are masked in messages because operators put credentials there.
func textMap(into *map[string]field[string], what string) taker {
	return named{what: what, most: maxListed, item: scalar[string]{as: anyScalar}, add: func(r *reader, name, n *tree.Node) {
		hideCredential(r, n)
		var one field[string]
		if n.Kind != tree.Null {
			text(&one).take(r, n)
		}
		if one.set() {
			if *into == nil {
				*into = map[string]field[string]{}
			}
			(*into)[name.Text] = field[string]{one.v, name}
		}
	}}
}

// valueMap reads names with any JSON value.
func valueMap(into *map[string]field[any]) taker {
	return named{what: "parameters", most: maxListed, item: anyValue{}, add: func(r *reader, name, n *tree.Node) {
		data, ok := r.json(n)
		if !ok {
			return
		}
		if *into == nil {
			*into = map[string]field[any]{}
		}
		(*into)[name.Text] = field[any]{decodeJSON(data), name}
	}}
}
