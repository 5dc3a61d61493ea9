package backstop

import (
	"time"

	"backstop/secret"
)

// Dialect is a wire format that callers and upstreams speak.
type Dialect string

// The dialects of this version. An upstream of a plan has one of the first
// three.
const (
	OpenAI    Dialect = "openai"
	Anthropic Dialect = "anthropic"
	Gemini    Dialect = "gemini"
	// Responses is a dialect of callers only: an upstream that serves it is one
	// of the OpenAI dialect whose profile says so.
	Responses Dialect = "responses"
)

// Unary says how a call that wants one JSON body is asked upstream.
type Unary string

// UnaryStream asks the upstream to stream, so that a hang is seen at its first
// missing token; UnaryPlain asks for one body.
const (
	UnaryStream Unary = "stream"
	UnaryPlain  Unary = "plain"
)

// ProbeMode says who pays for finding out that an open upstream is back.
type ProbeMode string

// ProbeSynthetic sends a tiny call of our own, ProbeShadow a copy of a recent
// call, ProbeLive lets a caller's call through.
const (
	ProbeSynthetic ProbeMode = "synthetic"
	ProbeShadow    ProbeMode = "shadow"
	ProbeLive      ProbeMode = "live"
)

// Upstream is one endpoint with its credentials and its limits. It is
// immutable once it is part of a [Plan].
type Upstream struct {
	Name    string
	Dialect Dialect
	Vendor  string // profile name, never "auto" in a built plan
	BaseURL string // absolute, as the vendor's SDK takes it

	Keys []secret.Value // in order of use; none = no credential is sent
	// KeyFiles are the files that the keys were read from, "" = from none; nil =
	// none was. Such a file is read again after the upstream refused its key.
	KeyFiles []string
	Account  string // upstreams and keys of one account share rate-limit parks
	Auth     string // bearer | x-api-key | api-key | x-goog-api-key

	Headers map[string]string // added to every request
	Query   map[string]string // added to every URL

	AllowPrivate bool   // loopback and private addresses may be dialed
	Proxy        string // env | off | absolute URL
	CAFile       string // private CA in PEM, "" = system roots

	Timeouts    Timeouts
	Breaker     BreakerSettings
	Trial       *BreakerSettings // evaluated, never acting; nil = none
	Retry       RetrySettings
	Limits      Limits
	Unary       Unary
	Quirks      Quirks
	Passthrough bool
}

// Timeouts are the four clocks of an attempt. Zero means "no limit" except
// for Connect and FirstToken, which a plan always sets.
type Timeouts struct {
	Connect    time.Duration // until the connection stands
	FirstToken time.Duration // start of the attempt to its first meaningful token
	Idle       time.Duration // between two meaningful tokens
	Total      time.Duration // start of the attempt to its end
	Drip       int           // fewest content bytes per second over 10 s, 0 = off
}

// BreakerSettings is the card's breaker, per upstream.
type BreakerSettings struct {
	Failures int
	Window   time.Duration
	Reset    time.Duration
	Hang     bool
	Probe    ProbeMode
	// Literal is the article's card word for word: no scaling with the base
	// error rate, no rate rule, a flat reset without jitter, live probes.
	Literal bool
}

// RetrySettings bound retries at the same upstream.
type RetrySettings struct {
	Max       int           // second tries per call at this upstream
	JitterMin time.Duration // the card's 200 ms
	JitterMax time.Duration // the card's 500 ms
	Budget    float64       // share of successes that may be retried, 0.1 = 10 %
	Wait      time.Duration // longest named delay that is sat out, once a call, while another tier is free
}

// Limits bound all attempts at an upstream; what exceeds them slides down a
// tier. Zero means no limit.
type Limits struct {
	Rate     float64 // attempts per second
	Burst    int
	Inflight int
}

// Quirks are an operator's words over the vendor profile's.
type Quirks struct {
	DropParams       []string
	RenameParams     map[string]string
	SetParams        map[string]any
	ToolIDMax        int
	NoTools          bool
	Prefill          bool
	ReasoningContent string // "" | optional | required
}
