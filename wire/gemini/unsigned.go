package gemini

import (
	"github.com/tidwall/gjson"

	"backstop/wire/internal/edit"
)

// unsigned stands where a function call has no signature of its issuer,
// because an upstream of another dialect made it. Models that demand a
// signature take this word of the vendor's for one
// (skip_thought_signature_validator, in base64 as SDKs expect of a signature).
// Calls that carry it are ours: for a model that demands none it is taken out
// again.
const unsigned = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

// unsign takes our words for a signature out of a request.
func (o *request) unsign() {
	contents := o.top.Find("contents")
	if contents == nil {
		return
	}
	each(contents.Val, func(_ int, c gjson.Result) bool {
		each(pick(c, "parts"), func(_ int, part gjson.Result) bool {
			if pick(part, "thoughtSignature").Str == unsigned {
				own := edit.New(nil) // a list of its own stays short
				p := own.Object(part, camel)
				p.Drop("thoughtSignature")
				p.Settle()
				o.Join(own)
			}
			return true
		})
		return true
	})
}
