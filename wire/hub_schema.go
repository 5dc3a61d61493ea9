package wire

import "github.com/tidwall/gjson"

// ToldSchema is the promised schema for a dialect that has no word of its own
// for what the answer is for: the schema's description says it.
func (p *Prompt) ToldSchema() []byte {
	schema := p.Promise.Schema
	root := gjson.ParseBytes(schema)
	if p.PromiseAbout == "" || !root.IsObject() {
		return schema
	}
	own := gjson.GetBytes(schema, "description")
	if own.Type == gjson.String && own.Str != "" && own.Index > 0 {
		return exchange(schema, &own, AppendString(nil, p.PromiseAbout+"\n"+own.Str))
	}
	if own.Exists() {
		return schema
	}
	if told, ok := insert(schema, "description", AppendString(nil, p.PromiseAbout)); ok {
		return told
	}
	return schema
}
