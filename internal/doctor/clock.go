package doctor

import (
	"fmt"
	"net/http"
	"time"
)

// A clock that is wrong by so much is worth a word, or spoils calls: limits
// name the time of their end, and certificates have one.
const (
	skewWarned  = 30 * time.Second
	skewProblem = 5 * time.Minute
)

// clock compares the machine's clock with the Date of an answer. The header
// counts whole seconds, and a cache may have kept it.
func (c *checkup) clock(v *visit) {
	date, err := http.ParseTime(v.header.Get("Date"))
	if err != nil || v.header.Get("Age") != "" {
		return
	}
	from := v.sent
	if from.IsZero() {
		from = v.began
	}
	here := from.Add(v.ended.Sub(from) / 2)
	skew := here.Sub(date.Add(time.Second / 2)).Round(time.Second)
	side := "ahead of"
	if skew < 0 {
		side = "behind"
	}
	size := max(skew, -skew)
	if size < skewWarned {
		return
	}
	w := Warning
	if size >= skewProblem {
		w = Problem
	}
	c.find(w, fmt.Sprintf("the clock of this machine is %s %s that of %s", size, side, c.base.Hostname()),
		"one of the two is wrong; times at which limits end, and certificates, are read against ours", "compare with another upstream below; if ours is wrong, turn on time synchronization (timedatectl set-ntp true)")
}
