package cases

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"backstop/wire"
)

// recorded is a line of the file of what vendors answer when something is
// wrong, with the verdict that is required.
type recorded struct {
	ID, Vendor, Surface, Body, Dialect string

	Status  int
	Headers map[string]string
	Want    struct {
		Outcome, Kind, Counts, Caller string

		ParkMS    *float64 `json:"park_ms"`
		ParkScope string   `json:"park_scope"`
		RetrySame bool     `json:"retry_same"`
		NextTier  bool     `json:"next_tier"`
	}
}

func readRecorded(t *testing.T) (list []recorded) {
	t.Helper()
	f, err := os.Open("../../wire/openai/testdata/upstream-answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// streams reports whether the answer is a stream.
func (r *recorded) streams() bool { return strings.HasPrefix(r.Surface, "stream-") }

// said is the outcome as records of calls have it.
func (r *recorded) said() string {
	if r.Want.Outcome == "ok" {
		return "ok"
	}
	return r.Want.Outcome + "/" + r.Want.Kind
}

// fits reports whether an upstream of the vendor can give this answer to a
// caller of the dialect: where a Responses call goes word for word, nobody
// answers with a chat, and elsewhere nobody with a response.
func (r *recorded) fits(l *fixture) bool {
	vendor, _ := wire.Profile(r.Vendor)
	native := l == &responsesFixture && r.Dialect == "openai" && vendor.Responses
	switch {
	case strings.Contains(r.Body, `"type":"response.`), strings.Contains(r.Body, `"object":"response"`):
		return native
	case native:
		return r.Surface == "http" || r.Want.Outcome != "ok" && !strings.Contains(r.Body, `"choices":[{`) && r.said() != "refused/filter"
	}
	return true
}

// namesTemperature reports whether the temperature is what is wrong, so that
// one more try goes without it.
func (r *recorded) namesTemperature() bool {
	return r.said() == "rejected/param" && strings.Contains(r.Body, "temperature")
}

// answer writes it; a stream only to who asked for one.
func (r *recorded) answer(x *exchange) {
	kind, rest := "application/json", []string(nil)
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		if name == "content-type" {
			kind = r.Headers[name]
			continue
		}
		rest = append(rest, name+": "+r.Headers[name])
	}
	if r.Status != 200 || !r.streams() {
		x.raw(fmt.Sprintf("HTTP/1.1 %d Said\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s", r.Status, kind, len(r.Body), lines(rest), r.Body))
		return
	}
	x.chunked(kind, rest...)
	x.chunk(r.Body)
	x.cleanEnd()
}

// TestEveryRecordedAnswerGetsItsVerdict sends each recorded answer through the
// whole program to callers of every dialect: twice, with a backup and alone.
func TestEveryRecordedAnswerGetsItsVerdict(t *testing.T) {
	t.Parallel()
	byVendor := map[string][]recorded{}
	all := readRecorded(t)
	for _, r := range all {
		byVendor[r.Vendor] = append(byVendor[r.Vendor], r)
	}
	for _, r := range all {
		judged := false
		for _, l := range fixtures {
			judged = judged || r.fits(l)
		}
		if !judged {
			t.Errorf("%s is judged for no caller", r.ID)
		}
	}
	for _, vendor := range slices.Sorted(maps.Keys(byVendor)) {
		for _, name := range slices.Sorted(maps.Keys(fixtures)) {
			l, list := fixtures[name], slices.DeleteFunc(slices.Clone(byVendor[vendor]), func(r recorded) bool { return !r.fits(fixtures[name]) })
			if len(list) == 0 {
				continue
			}
			t.Run(vendor+", "+name+" caller", func(t *testing.T) {
				t.Parallel()
				v := startVendor(t, l, list)
				for i := range list {
					v.backed(i)
					v.alone(i)
				}
			})
		}
	}
}

// vendorHouse is a program with an upstream for each recorded answer, once
// with a backup behind it and once without.
type vendorHouse struct {
	t    *testing.T
	l    *fixture
	list []recorded
	p, b *fake
	g    *gateway
}

func startVendor(t *testing.T, l *fixture, list []recorded) *vendorHouse {
	t.Helper()
	v := &vendorHouse{t: t, l: l, list: list}
	v.p = newFake(t, "vendor", func(x *exchange) {
		place, _, _ := strings.Cut(strings.TrimPrefix(x.path, "/hidden-"), "/")
		i, err := strconv.Atoi(strings.TrimLeft(place, "ba"))
		if err != nil {
			x.json(404, "")
			return
		}
		list[i].answer(x)
	})
	v.p.many = true
	v.b = newFakeOf(t, "backup", l, l.healthy(backupVoice, "B1", "B2"))
	v.g = start(t, setup{primary: v.p, backup: v.b, file: v.file()})
	return v
}

func (v *vendorHouse) file() string {
	var ups, routes strings.Builder
	for i, r := range v.list {
		vendor := r.Vendor
		switch {
		case vendor == "gemini-compat": // its answers in the other dialect
			vendor = "gemini"
		case !slices.Contains(wire.Vendors(), vendor): // no profile of its own
			vendor = "generic"
		}
		version := ""
		if r.Dialect == "openai" {
			version = "/v1"
		}
		for _, kind := range []string{"b", "a"} {
			name := fmt.Sprint(kind, i)
			fmt.Fprintf(&ups, "  %s: {dialect: %s, vendor: %s, base_url: \"http://%s/hidden-%s%s\", key: %s, allow_private: true, proxy: \"off\", unary: plain, "+
				"retry: {max: 1, jitter: 1ms-2ms}, breaker: {hang: false, probe: live}}\n", name, r.Dialect, vendor, v.p.addr(), name, version, primaryKey)
			tiers := "{upstream: " + name + ", model: m}"
			if kind == "b" {
				tiers += ", {upstream: backup, model: mb}"
			}
			fmt.Fprintf(&routes, "  - {model: %s, tiers: [%s], stream: {rescue: \"off\"}}\n", name, tiers)
		}
	}
	var backup strings.Builder
	(&setup{primary: v.p, backup: v.b}).upstream(&backup, v.b, backupKey, "")
	return fmt.Sprintf("listen: \"127.0.0.1:0\"\nadmin: {listen: \"127.0.0.1:0\", token: %s}\nlog: {format: json}\nupstreams:\n%s%sroutes:\n%s", adminToken, ups.String(), backup.String(), routes.String())
}

// ask calls a route.
func (v *vendorHouse) ask(route string, stream bool) (*answer, record, condition) {
	v.t.Helper()
	c := call{fixture: v.l, theirs: true, stream: stream, body: strings.Replace(v.l.withTemperature(stream), `"asked"`, `"`+route+`"`, 1),
		path: strings.Replace(v.l.path(stream), "/asked:", "/"+route+":", 1)}
	a := v.g.ask(c)
	return a, a.record(), v.g.state(route)
}

// backed checks what the answer leads to where somebody else can answer.
func (v *vendorHouse) backed(i int) {
	v.t.Helper()
	r, route := &v.list[i], fmt.Sprint("b", i)
	a, rec, now := v.ask(route, r.Surface != "body-200")
	tries := 0
	for _, at := range rec.Attempts {
		if at.Upstream == route {
			if tries++; at.Outcome != r.said() {
				v.t.Errorf("%s: judged as %s, want %s\n%s", r.ID, at.Outcome, r.said(), a.show())
			}
		}
	}
	want := 1
	if r.Want.RetrySame || r.namesTemperature() { // the second try is another request then
		want = 2
	}
	if tries != want {
		v.t.Errorf("%s: tried %d times at the same place, want %d", r.ID, tries, want)
	}
	if next := a.header.Get("X-Backstop-Tier") == "backup"; next != r.Want.NextTier {
		v.t.Errorf("%s: the next tier was asked: %v, want %v\n%s", r.ID, next, r.Want.NextTier, a.show())
	} else if next {
		a.success("backup", "B1B2")
	}
	v.parked(r, a, now)
	v.counted(r, now)
}

// parked checks for whom and how long the upstream is left alone. A park that
// may be over by now says nothing.
func (v *vendorHouse) parked(r *recorded, a *answer, now condition) {
	v.t.Helper()
	if r.Want.ParkScope == "none" {
		if len(now.Parked) > 0 {
			v.t.Errorf("%s: parked: %+v", r.ID, now.Parked)
		}
		return
	}
	d := r.parkTime()
	if len(now.Parked) == 0 {
		if time.Since(a.began) < d {
			v.t.Errorf("%s: not parked", r.ID)
		}
		return
	}
	p := now.Parked[0]
	if byKey := p.Key >= 0; byKey != (r.Want.ParkScope == "key") || p.Why != r.Want.Kind {
		v.t.Errorf("%s: parked for %s with key %d, want %s of the %s", r.ID, p.Why, p.Key, r.Want.Kind, r.Want.ParkScope)
	}
	if early, late := a.began.Add(d), time.Now().Add(d); p.Until.Before(early.Add(-time.Millisecond)) || p.Until.After(late) {
		v.t.Errorf("%s: parked until %s, want %s after the answer, from %s to %s", r.ID, p.Until, d, early, late)
	}
}

// parkTime is how long it parks: as it says, within the bounds of its kind.
func (r *recorded) parkTime() time.Duration {
	said := time.Duration(0)
	if r.Want.ParkMS != nil {
		said = time.Duration(*r.Want.ParkMS * float64(time.Millisecond))
	}
	switch r.Want.Kind {
	case "quota":
		return max(said, 15*time.Minute)
	case "auth":
		return max(said, 10*time.Minute)
	case "model":
		return or(said, 5*time.Minute)
	case "ramp":
		return or(said, 30*time.Second)
	}
	return min(or(said, time.Second), 10*time.Minute)
}

// counted checks whose breaker holds it against the upstream.
func (v *vendorHouse) counted(r *recorded, now condition) {
	v.t.Helper()
	for _, s := range now.Scopes {
		if held := s.Run > 0; s.Scope != "quality" && held != (s.Scope == r.Want.Counts) {
			v.t.Errorf("%s: the breaker of scope %s holds %d failures, want some for %s", r.ID, s.Scope, s.Run, r.Want.Counts)
		}
	}
}

// alone checks what the caller is told where nobody else can answer.
func (v *vendorHouse) alone(i int) {
	v.t.Helper()
	r := &v.list[i]
	a, _, _ := v.ask(fmt.Sprint("a", i), r.streams())
	got := a.read()
	vendor, _ := wire.Profile(r.Vendor)
	own := v.l.dialect() == r.Dialect && (v.l != &responsesFixture || vendor.Responses)
	switch {
	case r.Surface == "stream-mid":
		if got.kind != "in-band" || got.text == "" {
			v.t.Errorf("%s: want the text so far and an error frame\n%s", r.ID, a.show())
		}
	case r.Want.Outcome == "ok":
		if got.kind != "success" || a.tier() != "primary" {
			v.t.Errorf("%s: want an answer\n%s", r.ID, a.show())
		}
	case r.Want.Outcome == "refused" && got.kind == "success":
		if r.Status != 200 {
			v.t.Errorf("%s: a refusal with status %d became an answer\n%s", r.ID, r.Status, a.show())
		}
	case got.kind != "http-error" || a.header.Get("X-Should-Retry") != "false":
		v.t.Errorf("%s: want a final error\n%s", r.ID, a.show())
	case r.Want.Outcome == "rejected" && r.Status >= 400 && r.Status < 500 && a.status != r.Status:
		v.t.Errorf("%s: status %d, want the upstream's %d\n%s", r.ID, a.status, r.Status, a.show())
	}
	if r.Surface == "stream-mid" || r.streams() {
		return
	}
	body := strings.TrimSpace(r.Body)
	if same := strings.TrimSpace(a.body()) == body; own && same != (r.Want.Caller == "passthrough") {
		v.t.Errorf("%s: the caller gets the upstream's own words: %v, want it %s\n%s", r.ID, same, r.Want.Caller, a.show())
	}
}
