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
	if len(c.seen) != 3 || len(c.ring) != 3 {
		t.Errorf("%d schemas are kept, want 3", len(c.seen))
	}
	a, _ := c.Compile([]byte(`{"maxLength":9}`))
	b, _ := c.Compile([]byte(`{"maxLength":9}`))
	if a != b {
		t.Error("the same schema is compiled twice")
	}
}
