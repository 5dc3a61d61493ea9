package jsonfix

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"
)

// careless writes values as models do that mix notations. Whatever it draws,
// the document has one reading.
type careless struct {
	*rand.Rand
	open, shut   string // of strings
	bare, python bool
	comma, colon string
	trailing     bool
	comments     bool
	spaced       bool
	wide         bool // brackets
}

func pickOne(d *rand.Rand, of ...string) string { return of[d.IntN(len(of))] }

func newCareless(d *rand.Rand) *careless {
	c := &careless{Rand: d, open: `"`, shut: `"`, comma: ",", colon: ":"}
	switch d.IntN(6) {
	case 0, 1:
		c.open, c.shut = "'", "'"
	case 2:
		c.open, c.shut = "“", "”"
	}
	c.bare, c.python, c.trailing, c.comments, c.spaced = d.IntN(3) == 0, d.IntN(3) == 0, d.IntN(3) == 0, d.IntN(5) == 0, d.IntN(2) == 0
	switch d.IntN(8) {
	case 0:
		c.comma = "，"
	case 1:
		c.comma = "\n"
	}
	switch d.IntN(8) {
	case 0:
		c.colon = "："
	case 1:
		c.colon = " => "
	}
	c.bare = c.bare && c.colon != " => " // in prose that may be anything
	c.wide = d.IntN(8) == 0
	return c
}

var saidWords = []string{"red", "two words", "a, b and c", "key: value", "(x)", "50%", "发票", "https://x.io/a#b", "#1", "2024-05-06", "null", "[1]", "{y}", "a/b", ""}

func (c *careless) value(depth int) (text string, plain string) {
	switch k := c.IntN(8); {
	case depth > 0 && k < 2:
		return c.list(depth, false)
	case depth > 0 && k < 5:
		return c.list(depth, true)
	case k == 5:
		n := pickOne(c.Rand, "0", "-1", "12.50", "1e9")
		return n, n
	case k == 6:
		i := c.IntN(3)
		w := []string{"true", "false", "null"}[i]
		if c.python {
			return []string{"True", "False", "None"}[i], w
		}
		return w, w
	}
	w := saidWords[c.IntN(len(saidWords))]
	return c.open + w + c.shut, string(quoted(w))
}

func (c *careless) list(depth int, object bool) (string, string) {
	var text, plain strings.Builder
	open, shut := "[", "]"
	if object {
		open, shut = "{", "}"
	}
	plain.WriteString(open)
	if c.wide {
		open, shut = string(rune('［')), string(rune('］'))
		if object {
			open, shut = "｛", "｝"
		}
	}
	text.WriteString(open)
	n := 1 + c.IntN(3)
	for i := range n {
		if i > 0 {
			text.WriteString(c.comma)
			plain.WriteString(",")
		}
		if c.spaced {
			text.WriteString("\n  ")
		}
		if c.comments && c.IntN(3) == 0 {
			text.WriteString(pickOne(c.Rand, "/* note */ ", "// note\n", "# note\n"))
		}
		if object {
			key := fmt.Sprintf("%s_%d", pickOne(c.Rand, "id", "name", "total"), i)
			if c.bare {
				text.WriteString(key)
			} else {
				text.WriteString(c.open + key + c.shut)
			}
			text.WriteString(c.colon)
			if c.spaced {
				text.WriteString(" ")
			}
			plain.Write(append(quoted(key), ':'))
		}
		t, p := c.value(depth - 1)
		text.WriteString(t)
		plain.WriteString(p)
	}
	if c.trailing && c.comma != "\n" {
		text.WriteString(c.comma)
	}
	if c.spaced {
		text.WriteString("\n")
	}
	text.WriteString(shut)
	plain.WriteString(closer(object))
	return text.String(), plain.String()
}

func closer(object bool) string { return string(rune(closerOf(object))) }

// around puts a document into what models put around it.
func (c *careless) around(text string) string {
	switch c.IntN(10) {
	case 0:
		text = "```json\n" + text + "\n```"
	case 1:
		text = "Here is the result:\n\n```\n" + text + "\n```\n\nLet me know if it helps."
	case 2:
		text = "Of course. The answer is:\n\n" + text + "\n"
	case 3:
		text = "~~~json\n" + text + "\n~~~\n"
	case 4:
		text = "data: " + text + "\n\ndata: [DONE]\n\n"
	case 5:
		text = "const answer = " + text + ";"
	}
	switch c.IntN(6) {
	case 0:
		text = "<think>\nIs it {\"a\": 1}? No, rather not.\n</think>\n" + text
	case 1:
		text = "\ufeff" + text
	}
	return text
}

func TestCombinedDamageIsUndone(t *testing.T) {
	d := rand.New(rand.NewPCG(11, 12))
	wrong := 0
	for range 4000 {
		c := newCareless(d)
		text, plain := c.list(3, true)
		if c.IntN(12) == 0 && c.open == `"` && !c.wide && !c.bare && !c.comments && c.colon != " => " {
			text = html.EscapeString(text)
		}
		src := c.around(text)
		r, err := Repair([]byte(src), Options{})
		got, _ := decode(r.JSON)
		want, _ := decode([]byte(plain))
		if err != nil || r.Truncated || !same(got, want) {
			if wrong++; wrong <= 12 {
				t.Errorf("%q\n gave %q (%v), want %s", src, r.JSON, r.Reason, plain)
			}
		}
	}
	t.Logf("%d wrong", wrong)
}

func TestCombinedDamageCutAnywhereGivesAMarkedPrefix(t *testing.T) {
	d := rand.New(rand.NewPCG(13, 14))
	wrong := 0
	for range 3000 {
		c := newCareless(d)
		text, plain := c.list(3, true)
		src := text[:1+c.IntN(len(text)-1)]
		if strings.HasPrefix(src, "\xef") && len(src) < 3 {
			continue // a piece of a character
		}
		if c.IntN(3) == 0 {
			src = "```json\n" + src
		}
		r, err := Repair([]byte(src), Options{})
		got, _ := decode(r.JSON)
		want, _ := decode([]byte(plain))
		if err != nil && r.Reason != TruncatedEmpty || err == nil && (!r.Truncated || !prefix(got, want, true)) {
			if wrong++; wrong <= 12 {
				t.Errorf("%q\n gave %q (%v, truncated %v), of %s", src, r.JSON, r.Reason, r.Truncated, plain)
			}
		}
	}
	t.Logf("%d wrong", wrong)
}
