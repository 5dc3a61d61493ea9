package load

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Options describe one run. Rate, URL and one of Count and Duration are
// needed; the rest has defaults.
type Options struct {
	Rate     float64       // calls a second
	Count    int           // calls in all, 0 = as many as are due within Duration
	Duration time.Duration // time in which calls are due, 0 = as long as Count takes
	Poisson  bool          // arrivals as from many independent callers, not evenly spaced
	Seed     uint64        // of the Poisson arrivals

	URL    string
	Method string             // default POST
	Header http.Header        // default: a JSON content type
	Body   func(i int) []byte // of call i, nil = no body; called from many goroutines
	Stream bool               // the answer is an event stream: see Sample.FirstToken

	Timeout     time.Duration // of one call from its sending, default 30 s
	Connections int           // idle connections that are kept, default 512
	// Check, if set, looks at the body of a 200 answer (its first MiB; not of
	// streams) and says what is wrong with it.
	Check func(body []byte) error
	// Each, if set, is given every sample as its call ends, one at a time.
	Each func(Sample)
	// Transport replaces the built-in keep-alive transport. Tests use it.
	Transport http.RoundTripper
}

// check fills in the defaults and says what is missing.
func (o *Options) check() error {
	if o.Method == "" {
		o.Method = http.MethodPost
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Header == nil {
		o.Header = http.Header{"Content-Type": {"application/json"}}
	}
	if o.Connections <= 0 {
		o.Connections = 512
	}
	if !(o.Rate > 0 && o.Rate <= 1e6) {
		return errors.New("load: the rate must be above 0 and at most 1000000 calls a second")
	}
	if o.Count <= 0 && o.Duration <= 0 {
		return errors.New("load: give a number of calls or a duration")
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("load: %q is no http URL", o.URL)
	}
	return nil
}

// transport keeps enough idle connections that the generator does not spend
// its time dialing; the number of busy ones is not limited, or the loop would
// be closed.
func (o *Options) transport() (tr http.RoundTripper, idle func()) {
	if o.Transport != nil {
		return o.Transport, func() {}
	}
	t := &http.Transport{
		MaxIdleConns: o.Connections, MaxIdleConnsPerHost: o.Connections, IdleConnTimeout: 30 * time.Second,
		DisableCompression: true, WriteBufferSize: 4 << 10, ReadBufferSize: 4 << 10,
	}
	return t, t.CloseIdleConnections
}
