package wire

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// limits are the names under which the dialects bound an answer.
var limits = [...]string{
	"max_tokens", "max_completion_tokens", "max_output_tokens",
	"generationConfig.maxOutputTokens", "generation_config.max_output_tokens",
}

// attached are the names under which the dialects attach what is no text.
var attached = [...][]byte{
	[]byte(`"image_url"`), []byte(`"input_image"`), []byte(`"image"`), []byte(`"input_audio"`), []byte(`"audio"`),
	[]byte(`"file"`), []byte(`"file_id"`), []byte(`"input_file"`), []byte(`"document"`), []byte(`"source"`),
	[]byte(`"fileData"`), []byte(`"file_data"`), []byte(`"inlineData"`), []byte(`"inline_data"`), []byte(`"cachedContent"`), []byte(`"cached_content"`),
}

// TextAlone reports whether the body of an outbound request holds nothing but
// text: no file, picture or sound, and no name of one.
func TextAlone(body []byte) bool {
	for _, name := range attached {
		if bytes.Contains(body, name) {
			return false
		}
	}
	return true
}

// Shadow returns a copy of an outbound request whose answer is at most so many
// tokens long. Where the call itself names no bound it gets one under the name
// that the probe uses, which is the body of the same room's Probe. It is false
// if neither has one, or if the call is no object.
func Shadow(call, probe []byte, most int) ([]byte, bool) {
	bound, bounded, out := []byte(strconv.Itoa(most)), false, call
	for _, name := range limits {
		v := gjson.GetBytes(out, name)
		if !v.Exists() {
			continue
		}
		bounded = true
		if v.Type != gjson.Number || v.Num < 1 || v.Num > float64(most) {
			out = exchange(out, &v, bound)
		}
	}
	for _, name := range limits {
		if !bounded && gjson.GetBytes(probe, name).Exists() {
			out, bounded = insert(out, name, bound)
		}
	}
	// A budget for thinking would have to be smaller than the bound.
	for name, off := range map[string]string{
		"thinking": `{"type":"disabled"}`, "generationConfig.thinkingConfig": `{}`, "generation_config.thinking_config": `{}`,
	} {
		if v := gjson.GetBytes(out, name); v.IsObject() {
			out = exchange(out, &v, []byte(off))
		}
	}
	return out, bounded
}

// exchange puts another value in the place of one that was found in body.
func exchange(body []byte, v *gjson.Result, value []byte) []byte {
	out := append(make([]byte, 0, len(body)+len(value)), body[:v.Index]...)
	return append(append(out, value...), body[v.Index+len(v.Raw):]...)
}

// insert adds a field that is not there. A dot in its name goes one object
// deeper.
func insert(body []byte, name string, value []byte) ([]byte, bool) {
	if outer, inner, deep := strings.Cut(name, "."); deep {
		v := gjson.GetBytes(body, outer)
		if v.IsObject() {
			object, ok := insert([]byte(v.Raw), inner, value)
			return exchange(body, &v, object), ok
		}
		name, value = outer, []byte(`{"`+inner+`":`+string(value)+`}`)
	}
	open := bytes.IndexByte(body, '{')
	if open < 0 {
		return nil, false
	}
	comma := ","
	if rest := bytes.TrimLeft(body[open+1:], " \t\r\n"); len(rest) > 0 && rest[0] == '}' {
		comma = ""
	}
	field := `"` + name + `":` + string(value) + comma
	out := append(make([]byte, 0, len(body)+len(field)), body[:open+1]...)
	return append(append(out, field...), body[open+1:]...), true
}
