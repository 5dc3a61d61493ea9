package schema

import (
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTime bounds one match: look-ahead makes matching exponential in the
// worst case. It is looked at now and then, so a match may take ten times as
// long. After one that ran out of time none is tried in the same document: it
// may have thousands of strings, and a schema thousands of patterns.
const patternTime = 20 * time.Millisecond

// compilePattern compiles a pattern of JSON Schema, which is ECMAScript's.
// Most are the same for Go's own engine, which takes linear time; it lacks
// look-ahead and reads \s more narrowly.
func (s *steps) compilePattern(text string) (jsonschema.Regexp, error) {
	if !strings.Contains(text, `\s`) && !strings.Contains(text, `\S`) {
		if re, err := regexp.Compile(text); err == nil {
			return &linear{re, s}, nil
		}
	}
	re, err := regexp2.Compile(text, regexp2.ECMAScript)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTime
	return &pattern{re, s}, nil
}

// linear is a pattern whose matches take a time that the text's length says.
type linear struct {
	*regexp.Regexp
	steps *steps
}

// MatchString counts its steps.
func (p *linear) MatchString(s string) bool {
	p.steps.take(len(s) / bytesPerMatch)
	return p.Regexp.MatchString(s)
}

// pattern is one whose matches may take any time.
type pattern struct {
	*regexp2.Regexp
	steps *steps
}

// MatchString treats a match that ran out of time as a match: what could not
// be checked is not a violation.
func (p *pattern) MatchString(s string) bool {
	p.steps.take(len(s) / bytesPerMatch)
	if p.steps.late {
		return true
	}
	ok, err := p.Regexp.MatchString(s)
	p.steps.late = err != nil
	return ok || err != nil
}
