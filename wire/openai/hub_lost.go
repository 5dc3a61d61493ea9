package openai

// losses names what of a message, or of a delta of one, the hub has no words
// for: members besides text, reasoning, refusals and calls that say something,
// and parts that are no text. Proofs of reasoning mean nothing to anybody but
// their issuer.
func losses(b []byte, s span, note func(name string)) {
	for m := inObject(b, s); m.next(); {
		switch name := string(m.name()); name {
		case "role", "name", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning", "reasoning_details":
		case "content":
			for e := inArray(b, m.val); m.val.is(b, '[') && e.next(); {
				if kind := str(b, member(b, e.val, "type")); !member(b, e.val, "text").filled(b) && kind != "text" && kind != "refusal" && kind != "" {
					note(kind)
				}
			}
		default:
			if m.val.filled(b) || holds(b, m.val, '[') || holds(b, m.val, '{') {
				note(name)
			}
		}
	}
}
