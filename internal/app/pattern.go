package app

import (
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTime bounds one match of a caller's pattern: look-ahead makes
// matching exponential in the worst case.
const patternTime = 50 * time.Millisecond

// ecmaRegexp compiles the patterns of JSON Schema, which are ECMAScript's:
// Go's own engine has no look-ahead and would refuse the whole schema.
func ecmaRegexp(s string) (jsonschema.Regexp, error) {
	re, err := regexp2.Compile(s, regexp2.ECMAScript)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTime
	return pattern{re}, nil
}

type pattern struct{ *regexp2.Regexp }

// MatchString treats a match that ran out of time as a match: what could not
// be checked is not a violation.
func (p pattern) MatchString(s string) bool {
	ok, err := p.Regexp.MatchString(s)
	return ok || err != nil
}
