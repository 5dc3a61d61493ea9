package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// card is the whole outcome of a run.
type card struct {
	Date    string         `json:"date"`
	Profile string         `json:"profile"`
	Totals  map[string]int `json:"totals"` // of the sixteen
	Sixteen []result       `json:"sixteen"`
	Beyond  []result       `json:"beyond"`
	Added   *added         `json:"added,omitempty"`
	Many    *many          `json:"many,omitempty"`
}

func (c *card) count() {
	c.Totals = map[string]int{}
	for _, r := range c.Sixteen {
		c.Totals[r.Verdict]++
	}
}

// passed reports whether every scenario is a pass.
func (c *card) passed() bool {
	for _, r := range append(c.Sixteen[:len(c.Sixteen):len(c.Sixteen)], c.Beyond...) {
		if r.Verdict != pass {
			return false
		}
	}
	return true
}

// sum is the line that compares: 16/0/0/0.
func (c *card) sum() string {
	var parts []string
	for _, v := range verdicts {
		parts = append(parts, fmt.Sprintf("%d %s", c.Totals[v], v))
	}
	return strings.Join(parts, ", ")
}

const cardLine = "%s\t%s\t%s\t%.2f s\t%d+%d\t%s\n"

// write prints the scorecard for people.
func (c *card) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\tscenario\tverdict\ttook\trequests\twhat the caller got\n")
	for _, list := range [][]result{c.Sixteen, c.Beyond} {
		for _, r := range list {
			fmt.Fprintf(t, cardLine, r.ID, r.Title, r.Verdict, r.Seconds, r.Primary, r.Backup, r.Reason)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nthe sixteen, %s profile, %s: %s\n", c.Profile, c.Date, c.sum())
	if c.Added != nil {
		fmt.Fprintf(w, "cost: %s\n", c.Added)
	}
	if c.Many != nil {
		fmt.Fprintf(w, "streams: %s\n", c.Many)
	}
	return nil
}

// save writes the scorecard as JSON or, by the name's end, as a picture.
func (c *card) save(name string, picture bool) error {
	if picture {
		return os.WriteFile(name, []byte(c.draw()), 0o644)
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}
