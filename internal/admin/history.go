package admin

import (
	"net/http"
	"time"

	"backstop"
)

// Second is what ended in one second: calls by the tier that answered, and the
// times of the answered ones.
type Second struct {
	Time time.Time // its start

	Primary, Backup, Local int
	Failed                 int // nobody answered
	Other                  int // rejected or canceled: nobody was to answer

	P50, P99           time.Duration // 0 = no answer
	First50, First99   time.Duration // to the first token
	Repaired, Rescued  int
	Attempts, Failures int // upstream requests, and those that were no success
}

// Tally is how the attempts at one upstream ended, by class word.
type Tally struct {
	Lately, Since map[string]uint64 // in the last five minutes, since the start
	Last          Trouble
}

// Trouble is the latest attempt that failed through its upstream's fault.
type Trouble struct {
	Time    time.Time // zero = none
	Call    string
	Model   string
	Outcome string
	Status  int
}

// secondView is a second of GET /api/history. What is 0 is left out.
type secondView struct {
	Time     time.Time `json:"time"`
	Primary  int       `json:"primary,omitempty"`
	Backup   int       `json:"backup,omitempty"`
	Local    int       `json:"local,omitempty"`
	Failed   int       `json:"failed,omitempty"`
	Other    int       `json:"other,omitempty"`
	P50      float64   `json:"p50_ms,omitempty"`
	P99      float64   `json:"p99_ms,omitempty"`
	First50  float64   `json:"first_token_p50_ms,omitempty"`
	First99  float64   `json:"first_token_p99_ms,omitempty"`
	Repaired int       `json:"repaired,omitempty"`
	Rescued  int       `json:"rescued,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	Failures int       `json:"failed_attempts,omitempty"`
}

type historyView struct {
	Seconds     []secondView     `json:"seconds"`
	Transitions []transitionView `json:"transitions"`
}

// toldTransitions are shown to one who opens the dashboard.
const toldTransitions = 100

// seconds are those after a time, and the time to ask with the next time.
func (p *plane) seconds(after time.Time) ([]secondView, time.Time) {
	list := p.Seconds(after)
	out := make([]secondView, len(list))
	for i := range list {
		s := &list[i]
		out[i] = secondView{
			Time: s.Time, Primary: s.Primary, Backup: s.Backup, Local: s.Local, Failed: s.Failed, Other: s.Other,
			P50: millis(s.P50), P99: millis(s.P99), First50: millis(s.First50), First99: millis(s.First99),
			Repaired: s.Repaired, Rescued: s.Rescued, Attempts: s.Attempts, Failures: s.Failures,
		}
		after = s.Time
	}
	return out, after
}

// past is the history with the latest of the given transitions.
func (p *plane) past(list []backstop.Transition) (historyView, time.Time) {
	seconds, told := p.seconds(time.Time{})
	v := historyView{Seconds: seconds, Transitions: []transitionView{}}
	for i := max(0, len(list)-toldTransitions); i < len(list); i++ {
		v.Transitions = append(v.Transitions, viewTransition(&list[i]))
	}
	return v, told
}

func (p *plane) history(w http.ResponseWriter, _ *http.Request) {
	list, _, _ := p.Recent.Transitions(0)
	v, _ := p.past(list)
	reply(w, http.StatusOK, v)
}
