package wire

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text of an upstream safe to show: valid UTF-8, no control or
// direction characters, single spaces, bounded, and without anything that
// looks like a credential. Known keys are masked by whoever knows them.
func clean(text string, limit int) string {
	var b strings.Builder
	space := false
	for _, r := range strings.ToValidUTF8(text[:min(len(text), 4*limit)], "") {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = b.Len() > 0
			continue
		}
		if unicode.Is(unicode.Cf, r) || !unicode.IsPrint(r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return cut(credentials.ReplaceAllString(b.String(), "[secret]"), limit)
}

// cut shortens text to a number of bytes without splitting a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// credentials matches words in the form of the vendors' keys and accounts, with
// all that stands in one word with them.
var credentials = regexp.MustCompile(`(?i)[a-z0-9_.+/=-]*\b(?:sk|ak|pk|rk|gsk|xai|org|proj|key)[-_][a-z0-9*_.+/=-]{6,}|\bAIza[a-z0-9_-]{10,}|\bbearer\s+\S{8,}|\beyJ[a-z0-9_-]{10,}\S*`)

var (
	paramShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.\[\]-]{0,63}$`)
	// paramWords finds the name in a message that has no param field.
	paramWords = regexp.MustCompile(`(?i)(?:unsupported parameter|unknown parameter|unrecognized request argument supplied|unknown field|unknown name|unexpected keyword argument|extra inputs are not permitted|invalid parameter|property)[: ]+['"` + "`" + `]?([a-z_][a-z0-9_.]{1,63})`)
	// paramInvalid finds it where the value is what is wrong.
	paramInvalid = regexp.MustCompile("(?i)^(?:[a-z ]{0,30}error: )?(?:invalid )?[`'\"]?([a-z]+(?:_[a-z]+)*|top_[pk])[`'\"]?(?: must be |: only | is not supported|: extra inputs)")
)

// paramName returns a parameter's name if it can be one.
func paramName(name string) string {
	if name == "None" || !paramShape.MatchString(name) {
		return ""
	}
	return name
}

// paramFrom finds the rejected parameter's name in a message, "" = none.
func paramFrom(message string) string {
	for _, re := range []*regexp.Regexp{paramWords, paramInvalid} {
		if m := re.FindStringSubmatch(message); m != nil && !stopWord(m[1]) {
			return paramName(m[1])
		}
	}
	return ""
}

func stopWord(s string) bool {
	switch strings.ToLower(s) {
	case "is", "the", "a", "in", "for", "value", "input", "inputs", "request", "model", "this", "it", "was":
		return true
	}
	return false
}

// demandsStreaming reports whether a 400 rejects everything but streaming.
func demandsStreaming(text string) bool {
	for _, w := range []string{"only support stream", "only supports stream", "only stream mode", "only streaming is supported", "requires stream", "stream must be true", "仅支持流式", "只支持流式"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// rejectsStreaming reports whether a 400 rejects streaming itself.
func rejectsStreaming(param, text string) bool {
	if demandsStreaming(text) {
		return false
	}
	if param == "stream" {
		return true
	}
	for _, w := range []string{
		"does not support stream", "not support streaming", "streaming is not supported", "stream is not supported",
		"streaming is not available", "streaming not supported", "stream mode is not supported", "verified to stream", "`stream` is not supported",
		"'stream' is not supported", "unsupported parameter: 'stream'", "不支持流式",
	} {
		if strings.Contains(text, w) {
			return param != "stream_options"
		}
	}
	return false
}
