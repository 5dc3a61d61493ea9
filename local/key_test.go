package local

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"backstop"
	"backstop/wire"
)

var seed = []byte("0123456789abcdef")

func chat(body string) *wire.Request {
	return &wire.Request{Dialect: backstop.OpenAI, Op: wire.Chat, Model: "m", Body: []byte(body)}
}

func keyOf(body string) Key { return KeyOf(seed, "web", "*", chat(body)) }

const plainBody = `{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5}`

func TestBodiesThatAskTheSameHaveOneKey(t *testing.T) {
	want := keyOf(plainBody)
	for _, c := range []struct{ name, body string }{
		{"white space", "\n{ \"model\" : \"m\" ,\t\"messages\":[ {\"role\":\"user\" , \"content\":\"hi\"} ] , \"temperature\" : 0.5 }\r\n"},
		{"order of members", `{"temperature":0.5,"messages":[{"content":"hi","role":"user"}],"model":"m"}`},
		{"stream", `{"stream":true,"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5}`},
		{"stream with an escaped key", `{"str\u0065am":true,"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5}`},
		{"stream_options", `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true},"temperature":0.5}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if keyOf(c.body) != want {
				t.Error("another key")
			}
		})
	}
}

func TestBodiesThatAskSomethingElseHaveAnotherKey(t *testing.T) {
	seen := map[Key]string{}
	for _, body := range []string{
		plainBody,
		`{"model":"n","messages":[{"role":"user","content":"hi"}],"temperature":0.5}`,
		`{"model":"m","messages":[{"role":"user","content":"hi "}],"temperature":0.5}`,
		`{"model":"m","messages":[{"role":"system","content":"hi"}],"temperature":0.5}`,
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.50}`,
		`{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5,"user":"u"}`,
		`{"model":"m","messages":[{"role":"user","content":"hi","stream":true}],"temperature":0.5}`,
		`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"user","content":"hi"}],"temperature":0.5}`,
		`{"model":"m","messages":{"role":"user","content":"hi"},"temperature":0.5}`,
		`{"model":"m","model":"n","messages":[{"role":"user","content":"hi"}],"temperature":0.5}`,
		`{"model":"n","model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5}`,
		`{"model":"m","messages":[["role","user"]],"temperature":0.5}`,
		`{"model":"m","messages":["role",["user"]],"temperature":0.5}`,
		`{"model":"m","messages":["role","user"],"temperature":0.5}`,
		`{"model":"m","messages":["role,user"],"temperature":0.5}`,
		`{}`, `[]`, `""`, `null`, ``, `{`, `{{`,
	} {
		k := keyOf(body)
		if other, ok := seen[k]; ok {
			t.Errorf("same key: %s and %s", body, other)
		}
		seen[k] = body
	}
}

func TestEveryPartOfTheIdentityCounts(t *testing.T) {
	want := keyOf(plainBody)
	r := chat(plainBody)
	embed, anthropic, model := *r, *r, *r
	embed.Op, anthropic.Dialect, model.Model = wire.Embedding, backstop.Anthropic, "other"
	for name, k := range map[string]Key{
		"caller":                     KeyOf(seed, "app", "*", r),
		"route":                      KeyOf(seed, "web", "m", r),
		"seed":                       KeyOf([]byte("another"), "web", "*", r),
		"operation":                  KeyOf(seed, "web", "*", &embed),
		"dialect":                    KeyOf(seed, "web", "*", &anthropic),
		"model of the path":          KeyOf(seed, "web", "*", &model),
		"caller and route are apart": KeyOf(seed, "web*", "", r),
	} {
		if k == want {
			t.Errorf("%s does not count", name)
		}
	}
}

// A document is changed in one place, or only shuffled and spaced out.
func TestRandomDocumentsKeepAndChangeTheirKey(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		doc := map[string]any{"model": "m", "messages": grow(rnd, 4)}
		for range rnd.IntN(4) {
			doc[fmt.Sprint("p", rnd.IntN(9))] = grow(rnd, 3)
		}
		k := keyOf(spell(rnd, doc))
		if k != keyOf(spell(rnd, doc)) {
			t.Fatalf("shuffled: another key for %v", doc)
		}
		doc["changed"] = rnd.IntN(1000)
		if k == keyOf(spell(rnd, doc)) {
			t.Fatalf("changed: same key for %v", doc)
		}
	}
}

func grow(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(6); {
	case n == 0 && depth > 0:
		m := map[string]any{}
		for range rnd.IntN(4) {
			m[fmt.Sprint("k", rnd.IntN(5))] = grow(rnd, depth-1)
		}
		return m
	case n == 1 && depth > 0:
		l := []any{}
		for range rnd.IntN(4) {
			l = append(l, grow(rnd, depth-1))
		}
		return l
	case n == 2:
		return rnd.IntN(100)
	case n == 3:
		return nil
	}
	return fmt.Sprint("text \"", rnd.IntN(100), "\" {},[]:")
}

// spell writes a document with random order of members and random space.
func spell(rnd *rand.Rand, v any) string {
	gap := func() string { return []string{"", " ", "\n\t", "\r\n"}[rnd.IntN(4)] }
	switch v := v.(type) {
	case map[string]any:
		out := "{" + gap()
		first := true
		for k, x := range v { // Go shuffles
			if !first {
				out += "," + gap()
			}
			first = false
			out += fmt.Sprintf("%q%s:%s%s%s", k, gap(), gap(), spell(rnd, x), gap())
		}
		return out + "}" + gap()
	case []any:
		out := "["
		for i, x := range v {
			if i > 0 {
				out += ","
			}
			out += gap() + spell(rnd, x) + gap()
		}
		return out + "]"
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func FuzzKeyOf(f *testing.F) {
	f.Add([]byte(plainBody))
	f.Add([]byte(`{"a":[1,{"b":[]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := &wire.Request{Op: wire.Chat, Body: body}
		if first, second := KeyOf(seed, "", "", r), KeyOf(seed, "", "", r); first != second {
			t.Fatal("two keys for one body")
		}
	})
}
