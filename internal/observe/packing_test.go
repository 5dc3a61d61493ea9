package observe

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"backstop"
)

// fill gives every field of a struct a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), int64(*n))))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(strings.Repeat("x", *n%50) + "é")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n-100) << 20)
	default:
		panic("a field of a new kind: " + v.Kind().String())
	}
}

// flat is an event and its failure without pointers and clocks.
func flat(e *backstop.Event) []any {
	c := *e
	c.Time, c.Failure = time.Time{}, nil
	if e.Failure == nil {
		return []any{c}
	}
	return []any{c, *e.Failure}
}

func TestAPackedCallIsTheSameCallWithoutBodies(t *testing.T) {
	var full backstop.Event
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	own := full
	own.Failure = &backstop.Failure{Code: backstop.CodeOverloaded, Message: "our own words"}
	for _, e := range []backstop.Event{{}, full, own} {
		want := e
		if e.Failure == full.Failure && e.Failure != nil {
			f := *e.Failure
			f.Message, f.Body, f.From = "", nil, ""
			want.Failure = &f
		}
		want.Attempts = append([]backstop.AttemptRecord(nil), e.Attempts...)
		for i := range want.Attempts {
			want.Attempts[i].Outcome.Message, want.Attempts[i].Outcome.Body = "", nil
		}
		// A field that is new in one of these types has to be packed as well.
		if got := unpack(new(packing).pack(&e)); !want.Time.Equal(got.Time) || fmt.Sprintf("%+v", flat(got)) != fmt.Sprintf("%+v", flat(&want)) {
			t.Errorf("packed %+v\nwant   %+v", flat(got), flat(&want))
		}
	}
}

func TestAPackedCallIsSmall(t *testing.T) {
	if b := new(packing).pack(skipped("01jdyz6q3k8w3v9k2m4n5p6q7r", "backup", "open")); len(b) > 250 || cap(b) > 256 {
		t.Errorf("%d bytes in %d", len(b), cap(b))
	}
}
