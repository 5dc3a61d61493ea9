package sim

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"
)

// The picture's measures, in pixels. It has no scripts, fonts or links, so it
// can stand in any page.
const (
	picWide  = 960
	picLeft  = 64
	picRight = 16
	areaTop  = 56
	areaHigh = 180
	waitTop  = 268
	waitHigh = 90
	rowTop   = 384
	rowHigh  = 18
)

var tierColors = [4]struct{ name, color string }{
	{"primary", "#2f7d4f"}, {"backup", "#3a6ea5"}, {"local", "#d9a441"}, {"not answered", "#b3261e"},
}

// WriteSVG draws the run: who answered, how long callers waited, what was
// broken and which breakers were open.
func (r *Report) WriteSVG(out io.Writer) error {
	var b strings.Builder
	high := rowTop + rowHigh*len(r.rows) + 32
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" fill="#333">`+"\n", picWide, high)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", picWide, high)
	fmt.Fprintf(&b, `<text x="%d" y="20" font-size="14" font-weight="bold">%s</text>`+"\n", picLeft, html.EscapeString(r.title()))
	r.legend(&b)
	r.faults(&b)
	r.shares(&b)
	r.waits(&b)
	r.breakers(&b)
	r.axis(&b, high-10)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func (r *Report) title() string {
	if r.Name != "" {
		return r.Name
	}
	return "simulation"
}

func (r *Report) legend(b *strings.Builder) {
	x := picLeft
	for _, t := range tierColors {
		fmt.Fprintf(b, `<rect x="%d" y="32" width="10" height="10" fill="%s"/><text x="%d" y="41">%s</text>`+"\n", x, t.color, x+14, t.name)
		x += 26 + 7*len(t.name)
	}
	fmt.Fprintf(b, `<text x="%d" y="41">calls by who answered; shaded: faults</text>`+"\n", x)
}

// x is the place of an instant, in tenths of a pixel.
func (r *Report) x(at int64) string {
	wide := int64(picWide-picLeft-picRight) * 10
	// In microseconds, so that 400 days do not overflow.
	tenth := int64(picLeft)*10 + min(max(at, 0), int64(r.duration))/1000*wide/max(int64(r.duration)/1000, 1)
	return fmt.Sprintf("%d.%d", tenth/10, tenth%10)
}

func (r *Report) faults(b *strings.Builder) {
	for _, s := range r.spans {
		fmt.Fprintf(b, `<path d="M%s %dV%dH%sV%dZ" fill="#b3261e" fill-opacity="0.08"><title>%s: %s</title></path>`+"\n",
			r.x(s.from), areaTop, waitTop+waitHigh, r.x(s.to), areaTop, html.EscapeString(s.upstream), html.EscapeString(s.what))
	}
}

// shares stacks the calls of each slice.
func (r *Report) shares(b *strings.Builder) {
	most := 1
	for i := range r.life.cells {
		c := &r.life.cells[i].tiers
		most = max(most, c[0]+c[1]+c[2]+c[3])
	}
	base := make([]int, len(r.life.cells))
	for t := range tierColors {
		var d strings.Builder
		for i := range r.life.cells {
			n := r.life.cells[i].tiers[t]
			if n > 0 {
				low := areaTop + areaHigh - base[i]*areaHigh/most
				top := areaTop + areaHigh - (base[i]+n)*areaHigh/most
				fmt.Fprintf(&d, "M%s %dV%dH%sV%dZ", r.x(int64(i)*r.life.width), low, top, r.x(int64(i+1)*r.life.width), low)
			}
			base[i] += n
		}
		if d.Len() > 0 {
			fmt.Fprintf(b, `<path d="%s" fill="%s"/>`+"\n", d.String(), tierColors[t].color)
		}
	}
	perSecond := Decimal(int64(most)*int64(time.Second)/max(r.life.width/1000, 1)) * 1000
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s/s</text>`+"\n", picLeft-6, areaTop+8, perSecond/decimal*decimal)
}

// waits draws the 95 % wait for the first token on a scale of doublings.
func (r *Report) waits(b *strings.Builder) {
	const low, span = 8, 26 // octaves shown: from about 16 ms to 2 min
	y := func(i int) int { return waitTop + waitHigh - min(max(i-low, 0), span)*waitHigh/span }
	for _, mark := range []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second} {
		at := y(octave(int64(mark)))
		fmt.Fprintf(b, `<path d="M%d %dH%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="end">%s</text>`+"\n",
			picLeft, at, picWide-picRight, picLeft-6, at+4, mark)
	}
	var d strings.Builder
	pen := "M"
	for i := range r.life.cells {
		c := &r.life.cells[i]
		if w := c.p95(); w > 0 {
			fmt.Fprintf(&d, "%s%s %d", pen, r.x(int64(i)*r.life.width+r.life.width/2), y(octave(int64(w)-1)))
			pen = "L"
		}
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="#333" stroke-width="1.2"/><text x="%d" y="%d">p95 wait</text>`+"\n", d.String(), picLeft+4, waitTop+10)
}

func (r *Report) breakers(b *strings.Builder) {
	for i, name := range r.rows {
		y := rowTop + i*rowHigh
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text><rect x="%d" y="%d" width="%d" height="%d" fill="#e6efe9"/>`+"\n",
			picLeft-6, y+11, html.EscapeString(clip(name, 9)), picLeft, y, picWide-picLeft-picRight, rowHigh-4)
		for _, s := range r.opens {
			if s.upstream == name {
				fmt.Fprintf(b, `<path d="M%s %dV%dH%sV%dZ" fill="#b3261e" fill-opacity="0.7"><title>%s open</title></path>`+"\n",
					r.x(s.from), y, y+rowHigh-4, r.x(s.to), y, s.what)
			}
		}
	}
}

func (r *Report) axis(b *strings.Builder, y int) {
	for i := 0; i <= 6; i++ {
		at := int64(r.duration) * int64(i) / 6
		anchor := "middle"
		if i == 6 {
			anchor = "end"
		}
		fmt.Fprintf(b, `<text x="%s" y="%d" text-anchor="%s">%s</text>`+"\n", r.x(at), y, anchor, time.Duration(at).Round(time.Second))
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
