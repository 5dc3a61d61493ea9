package schema

import (
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// patternTime bounds one match: look-ahead makes matching exponential in
	// the worst case.
	patternTime = 20 * time.Millisecond
	// patternRest is how many matches a pattern that ran out of time sits
	// out, so that one document cannot spend its limit for every string.
	patternRest = 1000
)

// compilePattern compiles a pattern of JSON Schema, which is ECMAScript's.
// Most are the same for Go's own engine, which takes linear time; it lacks
// look-ahead and reads \s more narrowly.
func compilePattern(s string) (jsonschema.Regexp, error) {
	if !strings.Contains(s, `\s`) && !strings.Contains(s, `\S`) {
		if re, err := regexp.Compile(s); err == nil {
			return re, nil
		}
	}
	re, err := regexp2.Compile(s, regexp2.ECMAScript)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTime
	return &pattern{Regexp: re}, nil
}

type pattern struct {
	*regexp2.Regexp
	rests atomic.Int64
}

// MatchString treats a match that ran out of time as a match: what could not
// be checked is not a violation.
func (p *pattern) MatchString(s string) bool {
	if p.rests.Load() > 0 {
		p.rests.Add(-1)
		return true
	}
	ok, err := p.Regexp.MatchString(s)
	if err != nil {
		p.rests.Store(patternRest)
		return true
	}
	return ok
}
