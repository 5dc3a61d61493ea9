package mock

import "strings"

// textDialect writes legacy text completions.
type textDialect struct{ openAIDialect }

func (textDialect) body(r *reply) []byte {
	choices := make([]any, len(r.choices))
	for i := range r.choices {
		c := &r.choices[i]
		choices[i] = textChoice(i, strings.Join(c.pieces, ""), r.textLogprobs(c.pieces), orNull(c.finish))
	}
	out := map[string]any{
		"id": "cmpl-" + r.id, "object": "text_completion", "created": r.created, "model": r.ask.model,
		"system_fingerprint": r.mark, "choices": choices,
	}
	if !r.noUsage {
		out["usage"] = r.usage()
	}
	return mustJSON(out)
}

func (textDialect) events(r *reply) []frame {
	line := chunkLine(r, "cmpl-", "text_completion")
	var out []frame
	longest := 0
	for i := range r.choices {
		longest = max(longest, len(r.choices[i].pieces))
	}
	for step := range longest {
		for i := range r.choices {
			if p := r.choices[i].pieces; step < len(p) {
				one := textChoice(i, p[step], r.textLogprobs(p[step:step+1]), nil)
				out = append(out, frame{content, line(mustJSON([]any{one}), false)})
			}
		}
	}
	for i := range r.choices {
		if f := r.choices[i].finish; f != "" {
			out = append(out, frame{finish, line(mustJSON([]any{textChoice(i, "", nil, f)}), false)})
		}
	}
	return closing(r, out, line)
}

func textChoice(i int, text string, logprobs, finish any) map[string]any {
	return map[string]any{"index": i, "text": text, "logprobs": logprobs, "finish_reason": finish}
}

func (r *reply) textLogprobs(pieces []string) any {
	if !r.ask.logprobs {
		return nil
	}
	probs, top, offsets, at := []float64{}, []any{}, []int{}, 0
	for _, p := range pieces {
		probs, offsets = append(probs, -0.25), append(offsets, at)
		at += len(p)
		guesses := map[string]any{p: -0.25}
		for j := 1; j < r.ask.top; j++ {
			guesses[" "+vocabulary[j]] = -0.25 * float64(j+1)
		}
		top = append(top, guesses)
	}
	return map[string]any{"tokens": pieces, "token_logprobs": probs, "top_logprobs": top, "text_offset": offsets}
}
