package backstophttp

import (
	"fmt"
	"strings"
	"testing"

	"backstop"
	"backstop/secret"
)

func TestNoConfiguredKeyReachesACaller(t *testing.T) {
	const own, other, header, slashed = "sk-canary-0123456789", "sk-canary-0123456789-longer", "Bearer hdr-canary-xyz", "canary/with/slashes"
	change := func(p *backstop.Plan) {
		p.Upstreams[0].Keys = []secret.Value{secret.New(own)}
		p.Upstreams[1].Keys = []secret.Value{secret.New(other), secret.New(slashed)}
		p.Upstreams[0].Headers = map[string]string{"X-Auth": header, "X-Version": "2024-01-01"}
		p.Routes[0].Tiers = p.Routes[0].Tiers[:2]
	}
	echo := own + " " + other + " " + header + " hdr-canary-xyz canary\\/with\\/slashes 2024-01-01"
	for name, primary := range map[string]struct {
		status int
		text   string
	}{
		"passed on word for word":   {400, `{"error":{"message":"no ` + echo + `","type":"invalid_request_error","param":"messages","code":null}}`},
		"in another shape":          {422, `{"detail":"no ` + echo + `"}`},
		"refused with a status":     {451, `{"error":{"message":"no ` + echo + `","code":"content_filter"}}`},
		"a refused credential":      {401, `{"error":{"message":"Incorrect API key provided: ` + echo + `","code":"invalid_api_key"}}`},
		"a rejected parameter name": {400, `{"error":{"message":"m","type":"invalid_request_error","param":"` + own + `"}}`},
		"an error inside a 200":     {200, `{"error":{"message":"no ` + echo + `","type":"invalid_request_error","code":400}}`},
	} {
		for form, request := range map[string]string{"stream": stream, "unary": unary} {
			t.Run(name+", "+form, func(t *testing.T) {
				in(t, setup{primary: body(primary.status, primary.text), backup: body(primary.status, primary.text), change: change}, func(h *house) {
					p, ev := h.call(request)
					seen := fmt.Sprint(p.header) + p.String() + fmt.Sprintf("%+v", ev)
					for _, canary := range []string{"canary", "hdr-"} {
						if strings.Contains(seen, canary) {
							t.Errorf("%q in %s", canary, seen)
						}
					}
					if primary.status == 422 && !strings.Contains(p.String(), "2024-01-01") {
						t.Errorf("more was hidden than a secret: %s", p)
					}
				})
			})
		}
	}
}

// Words that look like a credential are hidden by their looks, and long texts
// are cut: what of a key of ours is left then is none of the caller's either.
func TestNoPartOfAConfiguredKeyReachesACaller(t *testing.T) {
	for _, key := range []string{"canary-key-0123456789", "sk-0123456789+/canary==", "canary-sk_abcdefgh", "canaryABCDEFGH01234567canary"} {
		change := func(p *backstop.Plan) {
			p.Upstreams[0].Keys = []secret.Value{secret.New(key)}
			p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
		}
		for form, c := range map[string]struct {
			status        int
			text, request string
		}{
			"a status":                {400, `{"detail":"%s"}`, unary},
			"another":                 {422, `{"detail":"%s"}`, unary},
			"a body of a good status": {200, `{"error":{"message":"%s","type":"invalid_request_error","code":400}}`, unary},
			"an event":                {200, "data: {\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\",\"code\":400}}\n\n", stream},
			"an event, put together":  {200, "data: {\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\",\"code\":400}}\n\n", unary},
		} {
			for pad := range 64 {
				front := strings.Repeat("n", 480+pad) // up to the limit of a message
				if pad >= 32 {
					front = strings.Repeat(" ", 2048-64+pad) // and of what becomes one
				}
				text := fmt.Sprintf(c.text, front+" "+key)
				in(t, setup{primary: body(c.status, text), change: change}, func(h *house) {
					p, ev := h.call(c.request)
					if seen := fmt.Sprint(p.header) + p.String() + fmt.Sprintf("%+v", ev); strings.Contains(seen, "canary") {
						t.Errorf("%s: a part of %s in %s", form, key, p)
					}
				})
			}
		}
	}
}

func TestTheMaskOfATokenThatIsRenewedEveryHourStaysSmall(t *testing.T) {
	m := newMask(pair(func(p *backstop.Plan) { p.Upstreams[0].Keys = []secret.Value{secret.New("first/of-all")} }))
	least := len(m.secrets)
	for i := range 10 * mostAdded {
		m.add(keyAt{"primary", 0}, fmt.Sprintf("token/%d", i))
	}
	if n := len(m.secrets); n > least+2*mostAdded {
		t.Errorf("%d secrets", n)
	}
	text := fmt.Sprintf(`first/of-all token/%d token\/%d`, 10*mostAdded-1, 9*mostAdded)
	if got := string(m.clean([]byte(text))); got != "[secret] [secret] [secret]" {
		t.Error(got)
	}
}

func TestTheKeyInUseIsHiddenHoweverOftenOthersAreRenewed(t *testing.T) {
	m := newMask(pair(nil))
	for key := range 10 * mostAdded { // many keys, each from a file of its own
		m.add(keyAt{"primary", key}, fmt.Sprintf("key-of-%d-", key))
	}
	m.add(keyAt{"backup", 0}, "key-of-0-") // the same one at another upstream
	for i := range 10 * mostAdded {
		m.add(keyAt{"backup", 0}, fmt.Sprintf("hourly-%d-", i))
		m.add(keyAt{"backup", 1}, "there-and-back") // it is read again at every refusal
		m.add(keyAt{"backup", 2}, []string{"one-of-two", "two-of-two"}[i%2])
	}
	for _, text := range []string{"key-of-0-", "key-of-77-", "there-and-back", "one-of-two", "two-of-two", fmt.Sprintf("hourly-%d-", 10*mostAdded-1)} {
		if got := string(m.clean([]byte(text))); got != "[secret]" {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
}
