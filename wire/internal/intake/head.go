package intake

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// MaxMembers bounds each level of a request that is looked at; real ones stay
// below 40.
const MaxMembers = 1000

// Head holds the known members of an object; gjson's Index is where each
// stands in the body.
type Head map[string]gjson.Result

// Given reports whether a parameter is there and not null.
func (h Head) Given(name string) bool { return Filled(h[name]) }

// Filled reports whether a value is there and not null.
func Filled(v gjson.Result) bool { return v.Exists() && v.Type != gjson.Null }

// maxBeyond is how many names are told of one object.
const maxBeyond = 64

// Beyond is the names of an object's members that say anything and are not
// among the known ones, in their order, as many as are told.
func Beyond(v gjson.Result, known ...string) (names []string) {
	if !v.IsObject() {
		return nil
	}
	v.ForEach(func(k, member gjson.Result) bool {
		hollow := !Filled(member) || member.Raw == `""` || member.IsArray() && !member.Get("0").Exists()
		if name := k.String(); !hollow && !slices.Contains(known, name) {
			names = append(names, name)
		}
		return len(names) < maxBeyond
	})
	return names
}

// Check complains about a body that is not one JSON object in UTF-8.
func Check(body []byte) *backstop.Failure {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return Refuse("", "the body is empty: send one JSON object")
	case trimmed[0] != '{':
		return Refuse("", "the body is not a JSON object: send one JSON object in UTF-8")
	case !utf8.Valid(body):
		return Refuse("", "the body is not valid UTF-8: encode it as UTF-8 without a byte order mark")
	case !wire.ValidJSON(body):
		return Refuse("", "the body is not valid JSON: check what the request was built with")
	}
	return nil
}

// Scan checks a whole body: one JSON object in UTF-8, no known parameter twice
// or in another case.
func Scan(body []byte, known map[string]bool) (Head, *backstop.Failure) {
	if fail := Check(body); fail != nil {
		return nil, fail
	}
	h := Head{}
	fail := Members(gjson.ParseBytes(body), func(name string, v gjson.Result) *backstop.Failure {
		if !known[name] {
			if lower := strings.ToLower(name); lower != name && known[lower] {
				return Refuse(lower, "%q is spelled in another case: write it in lower case, once", lower)
			}
			return nil
		}
		if _, twice := h[name]; twice {
			return Refuse(name, "%q is given twice: send it once", name)
		}
		h[name] = v
		return nil
	})
	return h, fail
}

// Members visits the members of an object up to the first complaint.
func Members(v gjson.Result, visit func(name string, v gjson.Result) *backstop.Failure) (fail *backstop.Failure) {
	n := 0
	v.ForEach(func(k, v gjson.Result) bool {
		if n++; n > MaxMembers {
			fail = Refuse("", "the body has more than %d parameters: check what the request was built with", MaxMembers)
			return false
		}
		fail = visit(k.String(), v)
		return fail == nil
	})
	return fail
}
