package gemini

import "github.com/tidwall/gjson"

// losses names what of a candidate the hub has no words for: data, code and
// what came of it, and where the text was taken from. Signatures mean nothing
// to anybody but their issuer.
func losses(candidate gjson.Result, note func(name string)) {
	candidate.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); name {
		case "citationMetadata", "groundingMetadata", "groundingAttributions", "urlContextMetadata", "logprobsResult":
			if v.Get("@keys.0").Exists() || v.Get("0").Exists() {
				note(name)
			}
		}
		return true
	})
	eachPart(candidate, func(part gjson.Result, kind pieceKind, _ int) {
		part.ForEach(func(k, v gjson.Result) bool {
			if name := k.String(); kind == pieceOther && v.IsObject() && !ofPart(name) {
				note(name)
			}
			return true
		})
	})
}
