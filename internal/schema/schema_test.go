package schema

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop/jsonfix"
)

type item struct {
	ID        string
	Kind      string
	Schema    json.RawMessage
	Input     string
	Want      json.RawMessage
	WantError bool `json:"want_error"`
	Errors    []jsonfix.Violation
	Truncated bool
	Note      string
}

func decode(t *testing.T, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Errorf("%s: %v", b, err)
	}
	return v
}

// validate says how a document breaks a schema. One that cannot be used
// validates everything.
func validate(c *Cache, source, document []byte) error {
	s, err := c.Compile(source)
	if err != nil {
		return nil
	}
	if wrong := s.Validate(document); len(wrong) > 0 {
		return fmt.Errorf("%d violations, first %+v", len(wrong), wrong[0])
	}
	return nil
}

func TestCorpus(t *testing.T) {
	for _, file := range []string{"../../jsonfix/testdata/json-schema-repair.jsonl", "testdata/more.jsonl"} {
		runCorpus(t, file)
	}
}

func runCorpus(t *testing.T, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := NewCache(0)
	good, all := 0, 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var it item
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		all++
		s, err := c.Compile(it.Schema)
		if err != nil {
			t.Fatalf("%s: %v", it.ID, err)
		}
		r, err := jsonfix.Repair([]byte(it.Input), jsonfix.Options{Schema: s})
		switch {
		case it.WantError && err == nil:
			t.Errorf("%s: %s gave %s, want an error (%s)", it.ID, it.Input, r.JSON, it.Note)
		case it.WantError && !slices.Equal(r.Violations, it.Errors):
			t.Errorf("%s: %s violates %v, want %v (%s)", it.ID, it.Input, r.Violations, it.Errors, it.Note)
		case !it.WantError && err != nil:
			t.Errorf("%s: %s refused %s %v, want %s (%s)", it.ID, it.Input, r.Reason, r.Violations, it.Want, it.Note)
		case !it.WantError && !reflect.DeepEqual(decode(t, r.JSON), decode(t, it.Want)):
			t.Errorf("%s: %s gave %s, want %s (%s)", it.ID, it.Input, r.JSON, it.Want, it.Note)
		case r.Truncated != it.Truncated:
			t.Errorf("%s: %s truncated %v (%s)", it.ID, it.Input, r.Truncated, it.Note)
		default:
			good++
		}
	}
	t.Logf("%s: %d of %d", file, good, all)
}

func TestASchemaThatCannotBeUsedValidatesNothing(t *testing.T) {
	c := NewCache(2)
	for name, s := range map[string]string{
		"not JSON":            `{`,
		"a number":            `1`,
		"of a wrong type":     `{"type":"strange"}`,
		"with a remote $ref":  `{"$ref":"https://example.com/x.json"}`,
		"with a local file":   `{"$ref":"file:///etc/passwd"}`,
		"with a wild pattern": `{"pattern":"("}`,
		"far too long":        `{"description":"` + strings.Repeat("x", largest) + `"}`,
		"of too many parts":   `{"allOf":[` + strings.Repeat("{},", mostRules) + `{}]}`,
		"of too many words":   `{"allOf":[` + strings.Repeat("true,", mostRules) + `{}]}`,
		"that lies too deep":  strings.Repeat(`{"not":`, deepest+1) + `{}` + strings.Repeat(`}`, deepest+1),
		"with a long name":    `{"properties":{"` + strings.Repeat("x", 1<<10) + `":{"allOf":[` + strings.Repeat("{},", 1<<10) + `{}]}}}`,
	} {
		if _, err := c.Compile([]byte(s)); err == nil {
			t.Errorf("a schema %s compiles", name)
		}
		if err := validate(c, []byte(s), []byte(`{}`)); err != nil {
			t.Errorf("a schema %s: %v", name, err)
		}
	}
}

func TestPatternsKnowLookAheadAndEndInTime(t *testing.T) {
	c := NewCache(0)
	look := []byte(`{"pattern":"^(?=.*\\d)(?!.*x)[a-z0-9]+$"}`)
	if err := validate(c, look, []byte(`"abc1"`)); err != nil {
		t.Error(err)
	}
	if validate(c, look, []byte(`"abc"`)) == nil {
		t.Error("a look-ahead does not hold")
	}
	slow := []byte(`{"items":{"pattern":"^(?=a)(a+)+$"}}`)
	doc := []byte(`[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 40)+`!",`, 200), ",") + `]`)
	done := make(chan error, 1)
	go func() { done <- validate(c, slow, doc) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a pattern runs for ever")
	}
}

// TestManyRulesOverOneLongValueAreNotAllTried: each of these documents breaks
// every rule, and what counts as following them was not looked at.
func TestManyRulesOverOneLongValueAreNotAllTried(t *testing.T) {
	all := func(n int, rule string) []byte {
		return []byte(`{"allOf":[` + strings.TrimSuffix(strings.Repeat(rule+",", n), ",") + `]}`)
	}
	long := []byte(`"` + strings.Repeat("xa", 100_000) + `!"`)
	list := []byte(`[` + strings.Repeat("[],", 20_000) + `1]`)
	for name, c := range map[string]struct {
		rule     string
		document []byte
	}{
		"patterns over a long text":            {`{"pattern":"^y"}`, long},
		"patterns with \\s over a long text":   {`{"pattern":"^y\\s"}`, long},
		"lengths of a long text":               {`{"maxLength":5}`, long},
		"members of a long list":               {`{"uniqueItems":true}`, list},
		"members of a long list, by their sum": {`{"maxItems":5}`, list},
	} {
		if validate(NewCache(0), all(10, c.rule), c.document) == nil {
			t.Errorf("ten %s are too many", name)
		}
		if validate(NewCache(0), all(1000, c.rule), c.document) != nil {
			t.Errorf("a thousand %s are all tried", name)
		}
	}
}

// TestRulesThatLeadToOthersDoNotOverflowTheStack: that would end the process.
func TestRulesThatLeadToOthersDoNotOverflowTheStack(t *testing.T) {
	chain := func(n int, link string) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"n%d":`+link+`,`, i, i+1)
		}
		fmt.Fprintf(&b, `"n%d":{"properties":{"a":{"$ref":"#/$defs/n0"}},"type":"object"}`, n)
		return []byte(`{"$ref":"#/$defs/n0","$defs":{` + b.String() + `}}`)
	}
	nested := func(n int) []byte {
		return []byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n))
	}
	for name, link := range map[string]string{
		"references":   `{"$ref":"#/$defs/n%d"}`,
		"unions":       `{"anyOf":[{"oneOf":[{"$ref":"#/$defs/n%d"}]}]}`,
		"conditions":   `{"if":true,"then":{"$ref":"#/$defs/n%d"}}`,
		"negations":    `{"not":{"not":{"$ref":"#/$defs/n%d"}}}`,
		"dependencies": `{"dependentSchemas":{"a":{"$ref":"#/$defs/n%d"}},"type":"object"}`,
	} {
		if validate(NewCache(0), chain(600, link), nested(900)) != nil {
			t.Errorf("%s: a document far too deep is checked", name)
		}
		if validate(NewCache(0), chain(100, link), nested(40)) == nil {
			t.Errorf("%s: a document of forty levels is not checked", name)
		}
	}
}

func TestBehindAPatternThatRanOutOfTimeNoneIsTried(t *testing.T) {
	const slow, quick = `{"pattern":"^(?=a)(a+)+$"}`, `{"pattern":"^x\\s"}`
	document := []byte(`"` + strings.Repeat("a", 60) + `!"`)
	s, err := compile([]byte(`{"allOf":[` + slow + `,` + quick + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if wrong := s.Validate(document); len(wrong) > 0 {
		t.Errorf("got %v", wrong)
	}
	if wrong := s.Validate([]byte(`"b"`)); len(wrong) == 0 {
		t.Error("nor in the next document")
	}
}

func TestNestedUnionsEndInTime(t *testing.T) {
	s := `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"properties":{"c":{"$ref":"#/$defs/n"},"x":{"type":"string"}},"required":["z"]},{"properties":{"c":{"$ref":"#/$defs/n"}},"required":["y"]}]}}}`
	doc := strings.Repeat(`{"c":`, 60) + `1` + strings.Repeat(`}`, 60)
	c := NewCache(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		compiled, err := c.Compile([]byte(s))
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = jsonfix.Repair([]byte(doc), jsonfix.Options{Schema: compiled})
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("a validation runs for ever")
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	c := NewCache(3)
	for i := range 10 {
		if _, err := c.Compile([]byte(`{"maxLength":` + string(rune('0'+i)) + `}`)); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.seen) != 3 || len(c.line) != 3 {
		t.Errorf("%d schemas are kept, want 3", len(c.seen))
	}
	a, _ := c.Compile([]byte(`{"maxLength":9}`))
	b, _ := c.Compile([]byte(`{"maxLength":9}`))
	if a != b {
		t.Error("the same schema is compiled twice")
	}
}

func TestLargeSchemasFillTheCacheSooner(t *testing.T) {
	c := NewCache(0)
	for i := range 40 {
		if _, err := c.Compile([]byte(fmt.Sprintf(`{"maxLength":%d,"allOf":[`, i) + strings.Repeat("{},", 1000) + `{}]}`)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		if _, err := c.Compile([]byte(fmt.Sprintf(`{"maxLength":%d,"description":"`, i) + strings.Repeat("x", largest/2) + `"}`)); err != nil {
			t.Fatal(err)
		}
	}
	weight := 0
	for _, e := range c.seen {
		weight += e.weight()
	}
	if len(c.seen) != len(c.line) || weight != c.weight || weight > mostWeight || len(c.seen) < 20 {
		t.Errorf("%d schemas of %d in line weigh %d, counted as %d", len(c.seen), len(c.line), weight, c.weight)
	}
}

func TestFewCopiesOfALargeSchemaAreKept(t *testing.T) {
	for n, want := range map[int]int{small / 2: mostIdle, small + 1: 1} {
		s, err := compile([]byte(`{"allOf":[` + strings.Repeat("{},", n) + `{}]}`))
		if err != nil {
			t.Fatal(err)
		}
		var out []*checker
		for range 2 * mostIdle {
			out = append(out, s.take())
		}
		for _, k := range out {
			s.give(k)
		}
		if len(s.idle) != want {
			t.Errorf("%d copies of a schema of %d parts are kept, want %d", len(s.idle), n, want)
		}
	}
}
