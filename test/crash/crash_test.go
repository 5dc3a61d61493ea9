package main

import (
	"strings"
	"testing"

	"backstop/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Leaks(m) }

// TestTheSixteenAndWhatIsBeyondThemPass plays them in a tenth of their time.
func TestTheSixteenAndWhatIsBeyondThemPass(t *testing.T) {
	c, err := run(t.Context(), fastPace, chosen())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(c.Sixteen, c.Beyond...) {
		t.Run(r.ID+" "+r.Title, func(t *testing.T) {
			if r.Verdict != pass {
				t.Errorf("%s: %s", r.Verdict, r.Reason)
			}
		})
	}
}

// chosen are the scenarios that neither load the machine nor are judged by how
// quick a busy one is: the others belong to `make crash`, on a quiet machine.
func chosen() (ids []string) {
	for _, s := range append(sixteen(&gateway{setup: setup{pace: fastPace}}), beyond(fastPace)...) {
		if !s.heavy && s.id != "X04" && s.id != "X09" {
			ids = append(ids, s.id)
		}
	}
	return ids
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		trial trial
		want  string
	}{
		"the whole answer and clean conduct pass":            {trial{rescued: true, findings: []finding{{OK: true}}}, pass},
		"an advisory check makes it partial":                 {trial{rescued: true, findings: []finding{{Advisory: true}}}, partial},
		"a typed error is safe":                              {trial{typed: true}, safe},
		"a typed error after bad conduct fails":              {trial{typed: true, findings: []finding{{}}}, fail},
		"an error without a code fails":                      {trial{}, fail},
		"part of an answer passed off as whole fails":        {trial{rescued: true, lied: "x"}, fail},
		"bad conduct fails even when the answer is whole":    {trial{rescued: true, findings: []finding{{}}}, fail},
		"an advisory check does not soften a missing answer": {trial{typed: true, findings: []finding{{Advisory: true}}}, safe},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := c.trial.judge(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAnswersAreReadAsACallerWould(t *testing.T) {
	const token = `data: {"id":"a","model":"m","choices":[{"delta":{"content":"x"}}]}` + "\n\n"
	const finish = `data: {"id":"a","model":"m","choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	for name, c := range map[string]struct {
		body    string
		success bool
		typed   bool
	}{
		"a whole stream is a success":        {token + finish + "data: [DONE]\n\n", true, false},
		"without its end mark it still is":   {token + finish, true, false},
		"without a finish reason it is not":  {token + "data: [DONE]\n\n", false, false},
		"an error event is a typed error":    {token + `data: {"error":{"code":"c","message":"m"}}` + "\n\n", false, true},
		"an event after the end mark is odd": {token + finish + "data: [DONE]\n\n" + token, false, false},
		"an event of broken JSON is odd":     {token + "data: {\"oops\n\n", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answer{status: 200}
			a.err = a.stream(strings.NewReader(c.body), 0, nil)
			if a.success() != c.success || a.typed() != c.typed {
				t.Errorf("success %t, typed %t: %s", a.success(), a.typed(), a)
			}
		})
	}
}

func TestThePictureNamesEveryScenario(t *testing.T) {
	c := &card{Date: "2000-01-02", Profile: "full", Sixteen: []result{{ID: "S01", Title: "a < b", Verdict: pass}}, Beyond: []result{{ID: "X01", Title: "c", Verdict: safe}}}
	c.count()
	got := c.draw()
	for _, want := range []string{"2000-01-02", "1 pass, 0 partial, 0 safe, 0 fail", "a &lt; b", "0 of 1 pass", "S01", "X01"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
