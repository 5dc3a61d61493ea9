package sim

import (
	"encoding/json"
	"testing"
	"time"
)

func outage(word string) Scenario {
	return Scenario{
		Name: word, Seed: 1, Duration: 10 * time.Minute,
		Arrivals: Arrivals{Rate: 50, Timeout: 30 * time.Second, Stream: 1},
		Upstreams: []Model{
			{Name: "primary", FirstToken: Spread{0.6, 1.5}, Tokens: Spread{200, 800}, Gap: 15 * time.Millisecond},
			{Name: "backup", FirstToken: Spread{0.3, 0.6}, Tokens: Spread{200, 800}, Gap: 15 * time.Millisecond},
		},
		Faults: []Fault{{Upstream: "primary", From: time.Minute, To: 6 * time.Minute, Word: word}},
	}
}

func TestPlay(t *testing.T) {
	for _, word := range []string{"hang", "503", "p:0.01:503"} {
		began := time.Now()
		r, err := Verify(Pair(), outage(word))
		if err != nil {
			t.Error(err)
		}
		if r == nil {
			continue
		}
		t.Log(time.Since(began), r.Calls)
		b, _ := json.MarshalIndent(r, "", " ")
		t.Log(string(b))
	}
}
