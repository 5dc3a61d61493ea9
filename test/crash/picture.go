package main

import (
	"fmt"
	"html"
	"strings"
)

// The picture in pixels: a line a scenario, the sixteen to the left.
const (
	pictureWidth = 900.0
	lineHeight   = 22.0
	pictureTop   = 84.0
	columnWidth  = 440.0
	margin       = 20.0
)

// colours of the verdicts; the word stands beside each, for people who do not
// see red and green.
var colours = map[string]string{pass: "#1a7f37", partial: "#9a6700", safe: "#1f6feb", fail: "#cf222e"}

// draw makes the picture. It has its own background, so that it can be read on
// dark pages.
func (c *card) draw() string {
	rows := max(len(c.Sixteen), len(c.Beyond))
	height := pictureTop + lineHeight*float64(rows) + 48
	alt := fmt.Sprintf("Scorecard of the crash test, %s: of the sixteen scenarios of failoverbench %s. Beyond them: %s.", c.Date, c.sum(), tally(c.Beyond))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label="%s" font-family="system-ui,sans-serif" font-size="13" fill="#1f2328">`+"\n",
		pictureWidth, height, pictureWidth, height, html.EscapeString(alt))
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(alt))
	fmt.Fprintf(&b, `<rect width="%g" height="%g" rx="8" fill="#fff"/>`+"\n", pictureWidth, height)
	words(&b, margin, 30, `font-size="17" font-weight="600"`, "Crash test: sixteen ways in which a model API breaks, and what the caller got")
	words(&b, margin, 50, `fill="#57606a"`, "Default settings, one backup, two declared keys; "+c.Profile+" profile, "+c.Date)
	words(&b, margin, pictureTop-12, `font-weight="600"`, "failoverbench: "+c.sum())
	words(&b, margin+columnWidth, pictureTop-12, `font-weight="600"`, "beyond it: "+tally(c.Beyond))
	for i, r := range c.Sixteen {
		r.draw(&b, margin, pictureTop+lineHeight*float64(i))
	}
	for i, r := range c.Beyond {
		r.draw(&b, margin+columnWidth, pictureTop+lineHeight*float64(i))
	}
	foot := "pass: the whole answer (S13: the refusal), clean conduct. partial: the same, an advisory check failed. safe: a typed error in time. fail: anything else."
	words(&b, margin, height-18, `fill="#57606a" font-size="12"`, foot)
	b.WriteString("</svg>\n")
	return b.String()
}

func tally(list []result) string {
	n := 0
	for _, r := range list {
		if r.Verdict == pass {
			n++
		}
	}
	return fmt.Sprintf("%d of %d pass", n, len(list))
}

func (r *result) draw(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, `<rect x="%g" y="%g" width="52" height="17" rx="4" fill="%s"/>`+"\n", x, y, colours[r.Verdict])
	words(b, x+26, y+13, `text-anchor="middle" font-size="11" font-weight="600" fill="#fff"`, r.Verdict)
	words(b, x+62, y+13, `font-family="ui-monospace,monospace" font-size="12" fill="#57606a"`, r.ID)
	words(b, x+94, y+13, "", r.Title)
	words(b, x+columnWidth-30, y+13, `text-anchor="end" fill="#57606a"`, fmt.Sprintf("%.1f s", r.Seconds))
}

func words(b *strings.Builder, x, y float64, attrs, text string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attrs, html.EscapeString(text))
}
