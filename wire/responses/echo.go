package responses

import (
	"github.com/tidwall/gjson"

	"backstop/wire/internal/edit"
)

// repeated are the members of a request that the API says again in every answer,
// each with what holds where the request is silent. LangChain takes the promise
// of JSON from there, for one. What was stored is not among them: nothing is.
var repeated = [...]struct{ name, silent string }{
	{"instructions", "null"}, {"max_output_tokens", "null"}, {"parallel_tool_calls", "true"}, {"previous_response_id", "null"},
	{"reasoning", `{"effort":null,"summary":null}`}, {"temperature", "null"}, {"text", plainText}, {"tool_choice", `"auto"`},
	{"tools", "[]"}, {"top_p", "null"}, {"truncation", `"disabled"`}, {"user", "null"}, {"metadata", "{}"},
}

const plainText = `{"format":{"type":"text"}}`

// repetition writes these members, each with a comma before it. A request that
// is not known, nil, is a silent one.
func repetition(asked []byte) []byte {
	var said [len(repeated)]string
	gjson.ParseBytes(asked).ForEach(func(name, v gjson.Result) bool {
		for i := range repeated {
			if repeated[i].name == name.Str && v.Type != gjson.Null {
				said[i] = string(edit.OneLine([]byte(v.Raw)))
			}
		}
		return true
	})
	var b []byte
	for i, m := range repeated {
		value := said[i]
		switch {
		case value == "":
			value = m.silent
		case m.name == "text":
			value = formed(value)
		}
		b = append(append(append(append(b, `,"`...), m.name...), `":`...), value...)
	}
	return b
}

// formed is the text member with its format, which a request may leave out.
func formed(text string) string {
	switch v := gjson.Parse(text); {
	case !v.IsObject():
		return plainText
	case v.Get("format").IsObject():
		return text
	}
	return string(edit.SetMember([]byte(text), "format", `{"type":"text"}`))
}
