package responses

import "github.com/tidwall/gjson"

// losses names what of an item the hub has no words for: tools that the vendor
// ran, parts that are no text, and what stands beside a text.
func losses(item gjson.Result, note func(name string)) {
	switch kind := item.Get("type").Str; kind {
	case "reasoning", "function_call", "":
	case "message":
		item.Get("content").ForEach(func(_, part gjson.Result) bool {
			switch kind := part.Get("type").Str; kind {
			case "output_text":
				for _, name := range [...]string{"annotations", "logprobs"} {
					if part.Get(name + ".0").Exists() {
						note(name)
					}
				}
			case "refusal", "":
			default:
				note(kind)
			}
			return true
		})
	default:
		note(kind)
	}
}
