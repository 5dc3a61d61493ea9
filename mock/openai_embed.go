package mock

import (
	"encoding/base64"
	"encoding/binary"
	"math"
)

// embedDialect writes embeddings: unit vectors that follow from the text.
type embedDialect struct{ openAIDialect }

func (embedDialect) body(r *reply) []byte {
	data := make([]any, len(r.ask.inputs))
	for i, in := range r.ask.inputs {
		v := vector(promptHash(in, 0), r.ask.size)
		var out any = v
		if r.ask.base64 {
			out = pack(v)
		}
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": out}
	}
	out := map[string]any{"object": "list", "model": r.ask.model, "data": data}
	if !r.noUsage {
		out["usage"] = map[string]any{"prompt_tokens": r.in, "total_tokens": r.in}
	}
	return mustJSON(out)
}

// vector draws n numbers in [-1, 1) from a hash and takes them to length 1.
func vector(h uint64, n int) []float32 {
	v := make([]float32, n)
	sum := 0.0
	for i := range v {
		h = stir(h + 0x9e3779b97f4a7c15)
		x := float64(int64(h)>>11) / (1 << 52)
		v[i] = float32(x)
		sum += x * x
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	length := float32(math.Sqrt(sum))
	for i := range v {
		v[i] /= length
	}
	return v
}

// pack is OpenAI's base64 form: little-endian float32.
func pack(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}
