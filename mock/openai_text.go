package mock

import "strings"

// textDialect writes legacy text completions.
type textDialect struct{ openAIDialect }

func (textDialect) body(r *reply) []byte {
	choices := make([]any, len(r.choices))
	for i := range r.choices {
		c := &r.choices[i]
		choices[i] = textChoice(i, strings.Join(c.pieces, ""), r.textLogprobs(c.pieces, 0), orNull(c.finish))
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
	said := make([]int, len(r.choices)) // offsets go on over a stream
	for step := range longest {
		for i := range r.choices {
			if p := r.choices[i].pieces; step < len(p) {
				one := textChoice(i, p[step], r.textLogprobs(p[step:step+1], said[i]), nil)
				said[i] += len(p[step])
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

// textLogprobs are those of pieces that begin at an offset of the whole text.
func (r *reply) textLogprobs(pieces []string, at int) any {
	if !r.ask.logprobs {
		return nil
	}
	probs, top, offsets := []float64{}, []any{}, []int{}
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
