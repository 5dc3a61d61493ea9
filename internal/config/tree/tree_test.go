package tree

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func read(t *testing.T, text string) *Node {
	t.Helper()
	n, _, err := Read("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNodesKnowWhereTheyStand(t *testing.T) {
	n := read(t, "\ufeffa:\r\n  b: [x, 'é', \"y\"]\r\n  c: |\r\n    text\r\n")
	for path, want := range map[string]string{"b": "2:6", "c": "3:6"} {
		if got := n.Get("a").Get(path); fmt.Sprintf("%d:%d", got.Line, got.Column) != want {
			t.Errorf("%s stands at %d:%d, want %s", path, got.Line, got.Column, want)
		}
	}
	list := n.Get("a").Get("b").Items
	for i, want := range []string{"x at 2:7", "é at 2:10 quoted", "y at 2:15 quoted"} {
		got := fmt.Sprintf("%s at %d:%d", list[i].Text, list[i].Line, list[i].Column)
		if list[i].Quoted {
			got += " quoted"
		}
		if got != want {
			t.Errorf("item %d is %q, want %q", i, got, want)
		}
	}
}

func TestScalarsStayText(t *testing.T) {
	n := read(t, "a: 0x1F\nb: 1_000\nc: yes\nd: .inf\ne: 007\nf: ~\ng:\nh: ''\ni: !!str 5\n")
	for name, want := range map[string]string{"a": "0x1F", "b": "1_000", "c": "yes", "d": ".inf", "e": "007", "h": "", "i": "5"} {
		if got := n.Get(name); got.Kind != Scalar || got.Text != want {
			t.Errorf("%s = %v %q", name, got.Kind, got.Text)
		}
	}
	if n.Get("f").Kind != Null || n.Get("g").Kind != Null {
		t.Error("a missing value is not null")
	}
}

func TestAMappingsOwnKeysWinOverMergedOnes(t *testing.T) {
	n := read(t, "base: &b {x: 1, y: 2}\nover:\n  <<: *b\n  x: 3\n")
	if over := n.Get("over"); over.Get("x").Text != "3" || over.Get("y").Text != "2" {
		t.Errorf("x = %q, y = %q", over.Get("x").Text, over.Get("y").Text)
	}
}

func TestTheCaretStandsBelowThePlaceWithTabsAndLongLines(t *testing.T) {
	p := Problem{File: "f", Line: 3, Column: 3, Message: "m", Hint: "h", Source: "\té: x"}
	if want := "f:3:3: m\n    3 | \té: x\n      | \t ^\n        h"; p.Error() != want {
		t.Errorf("%q, want %q", p.Error(), want)
	}
	p = Problem{File: "f", Line: 1, Column: 5000, Message: "m", Source: strings.Repeat("x", 9999)}
	if len(p.Error()) > 500 {
		t.Errorf("a long line is shown with %d bytes", len(p.Error()))
	}
	many := make(Problems, 100)
	if text := many.Error(); !strings.Contains(text, "and 80 more problems") {
		t.Errorf("%q", text)
	}
	if !errors.Is(Problems{Problem{}.Because(errors.ErrUnsupported)}, errors.ErrUnsupported) {
		t.Error("the cause is lost")
	}
}

func TestCredentialsAreMaskedOnTheLineOfAProblem(t *testing.T) {
	n, src, err := Read("f", []byte("a: {key: sk-1, x: \"a\\nb\"}\nb: |\n  first-line\n  second-line\n"))
	if err != nil {
		t.Fatal(err)
	}
	src.HideAll(n.Get("a"))
	src.HideAll(n.Get("b"))
	ps := src.Finish(Problems{src.On(n.Get("a").Get("key"), "m", ""), src.At(4, 3, "m", "")})
	if ps[0].Source != "a: {key: ****, x: *******" || ps[1].Source != "  ***********" {
		t.Errorf("%q, %q", ps[0].Source, ps[1].Source)
	}
}

func TestInABrokenFileCredentialsAreMaskedByTheirLooks(t *testing.T) {
	for line, want := range map[string]string{
		`key: sk-1234`:                "key: *******",
		`{key: "${A}", x: sk-1}`:      `{key: "${A************`,
		`- 0123456789abcdef01234`:     "- *********************",
		`base_url: https://a.example`: "base_url: https://a.example",
		`api_keys: [a, b]`:            "api_keys: ******",
	} {
		if got := maskByLooks(line); got != want {
			t.Errorf("%s became %s, want %s", line, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"a: b", "[1, {a: b}]", "a: &x 1\nb: *x\n<<: {c: d}", "? a\n: b", "- |\n  x\n- >-\n  y", "%YAML 1.2\n---\na: !!str b\n...", "a: 'x\n  y'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, src, err := Read("f", data)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an empty error")
			}
			return
		}
		visits := 0
		n.Each(func(c *Node) {
			if visits++; visits > 2*maxWeight {
				t.Fatal("aliases are not bounded")
			}
			src.Hide(c)
		})
		_ = src.Finish(Problems{src.On(n, "m", "")}).Error()
	})
}
