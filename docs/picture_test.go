package docs_test

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// The picture in pixels: time to the right, the logarithm of a call's latency
// upwards, every call a dot.
const (
	width, height           = 900.0, 396.0
	left, right, top, floor = 64.0, 884.0, 84.0, 340.0
	least, most             = 10.0, 10000.0 // milliseconds
)

// kinds of dots, by the tier that answered. The colours are told apart by
// people who do not see red and green, too.
var kinds = []struct{ name, colour string }{
	{"primary", "#1f6feb"}, {"backup", "#e8890c"}, {"local", "#8250df"}, {"no HTTP 200", "#cf222e"},
}

func (o *outage) span() float64 { return o.Calls[len(o.Calls)-1][0] + 1000/o.Rate }

func (o *outage) x(at float64) float64 { return left + (right-left)*at/o.span() }

func y(latency float64) float64 {
	l := math.Log(min(max(latency, least), most)/least) / math.Log(most/least)
	return floor - (floor-top)*l
}

// draw makes the picture. It has its own background, so that it can be read on
// dark pages.
func (o *outage) draw() string {
	var b strings.Builder
	worst, good := 0.0, 0
	for _, c := range o.Calls {
		worst = max(worst, c[1])
		if c[2] < 3 {
			good++
		}
	}
	alt := fmt.Sprintf("Latency of %d calls over %.0f s. The primary hangs from second %.0f to second %.0f; %d of %d calls got HTTP 200, the slowest after %.2f s.",
		len(o.Calls), o.span()/1000, o.Hang/1000, o.Heal/1000, good, len(o.Calls), worst/1000)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label="%s" font-family="system-ui,sans-serif" font-size="13" fill="#1f2328">`+"\n",
		width, height, width, height, html.EscapeString(alt))
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(alt))
	fmt.Fprintf(&b, `<rect width="%g" height="%g" rx="8" fill="#fff"/>`+"\n", width, height)
	text(&b, left, 30, `font-size="17" font-weight="600"`, fmt.Sprintf("%d calls, %d answered with HTTP 200, the slowest after %.2f s", len(o.Calls), good, worst/1000))
	o.outageBand(&b)
	o.axes(&b)
	o.dots(&b)
	o.events(&b)
	o.legend(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

func (o *outage) outageBand(b *strings.Builder) {
	from, to := o.x(o.Hang), o.x(o.Heal)
	fmt.Fprintf(b, `<rect x="%.1f" y="%g" width="%.1f" height="%g" fill="#ffebe9"/>`+"\n", from, top, to-from, floor-top)
	text(b, (from+to)/2+12, floor-16, `text-anchor="middle" fill="#a40e26"`, "the primary says nothing")
	text(b, to+8, floor-16, `fill="#57606a"`, "it answers again")
}

func (o *outage) axes(b *strings.Builder) {
	for _, v := range []float64{10, 100, 1000, 10000} {
		fmt.Fprintf(b, `<path d="M%g %.1fH%g" stroke="#d0d7de"/>`+"\n", left, y(v), right)
		label := fmt.Sprintf("%g ms", v)
		if v >= 1000 {
			label = fmt.Sprintf("%g s", v/1000)
		}
		text(b, left-8, y(v)+4, `text-anchor="end"`, label)
	}
	fmt.Fprintf(b, `<path d="M%g %.1fH%g" stroke="#57606a" stroke-dasharray="4 4"/>`+"\n", left, y(4500), right)
	text(b, o.x(o.Heal)+8, y(4500)-5, `fill="#57606a"`, "4.5 s: the limit of a single call")
	for s := 0.0; s <= o.span()/1000; s += 10 {
		text(b, o.x(s*1000), floor+18, `text-anchor="middle"`, fmt.Sprintf("%g s", s))
	}
	text(b, left-8, top-10, `fill="#57606a"`, "latency of each call (logarithmic)")
}

// dots draws the calls of each tier as one path of round points.
func (o *outage) dots(b *strings.Builder) {
	for tier, k := range kinds {
		var path strings.Builder
		for _, c := range o.Calls {
			if int(c[2]) == tier {
				fmt.Fprintf(&path, "M%.1f %.1fh0", o.x(c[0]), y(c[1]))
			}
		}
		if path.Len() > 0 {
			fmt.Fprintf(b, `<path d="%s" stroke="%s" stroke-width="3" stroke-linecap="round" stroke-opacity=".8" fill="none"/>`+"\n", path.String(), k.colour)
		}
	}
}

// events marks the breaker's transitions below the axis.
func (o *outage) events(b *strings.Builder) {
	last, row := -1000.0, 0
	for _, l := range o.Lines {
		at := o.x(l.At)
		if row++; at-last > 260 {
			row = 0
		}
		last = at
		fmt.Fprintf(b, `<path d="M%.1f %gV%g" stroke="#57606a" stroke-dasharray="2 3"/>`+"\n", at, top, floor+26+15*float64(row))
		what := strings.TrimPrefix(l.Text, "[Circuit Breaker] primary ")
		anchor := `text-anchor="start"`
		if at > right-220 {
			anchor, at = `text-anchor="end"`, at-8
		}
		text(b, at+4, floor+36+15*float64(row), anchor+` font-family="ui-monospace,monospace" font-size="12"`, what)
	}
}

func (o *outage) legend(b *strings.Builder) {
	at := left
	for tier, k := range kinds {
		n := 0
		for _, c := range o.Calls {
			if int(c[2]) == tier {
				n++
			}
		}
		if n == 0 && tier > 1 && tier != 3 {
			continue
		}
		fmt.Fprintf(b, `<circle cx="%g" cy="50" r="5" fill="%s"/>`+"\n", at+5, k.colour)
		words := fmt.Sprintf("%s: %d", k.name, n)
		text(b, at+15, 54, "", words)
		at += 40 + 7.5*float64(len(words))
	}
	text(b, at, 54, `fill="#57606a"`, fmt.Sprintf("%g calls a second; median by tier: %s", o.Rate, o.medians()))
}

func (o *outage) medians() string {
	var parts []string
	for tier := range 2 {
		var l []float64
		for _, c := range o.Calls {
			if int(c[2]) == tier {
				l = append(l, c[1])
			}
		}
		if len(l) > 0 {
			slices.Sort(l)
			parts = append(parts, fmt.Sprintf("%s %.0f ms", kinds[tier].name, l[len(l)/2]))
		}
	}
	return strings.Join(parts, ", ")
}

func text(b *strings.Builder, x, y float64, attrs, words string) {
	if attrs != "" {
		attrs = " " + attrs
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f"%s>%s</text>`+"\n", x, y, attrs, html.EscapeString(words))
}
