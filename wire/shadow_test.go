package wire

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestAShadowIsBoundedUnderTheNameThatTheUpstreamTakes(t *testing.T) {
	for name, c := range map[string]struct{ call, probe, want string }{
		"a larger bound":                 {`{"model":"m","max_tokens":4000}`, `{"max_tokens":16}`, `{"model":"m","max_tokens":64}`},
		"a smaller bound":                {`{"model":"m","max_tokens":7}`, `{"max_tokens":16}`, `{"model":"m","max_tokens":7}`},
		"the call's own name for it":     {`{"max_completion_tokens":4000}`, `{"max_tokens":16}`, `{"max_completion_tokens":64}`},
		"none, so the probe's name":      {`{"model":"m"}`, `{"max_completion_tokens":16}`, `{"max_completion_tokens":64,"model":"m"}`},
		"a deep name":                    {`{"contents":[]}`, `{"generationConfig":{"maxOutputTokens":16}}`, `{"generationConfig":{"maxOutputTokens":64},"contents":[]}`},
		"a deep name in an object":       {`{"generationConfig":{ }}`, `{"generationConfig":{"maxOutputTokens":16}}`, `{"generationConfig":{"maxOutputTokens":64 }}`},
		"a bound that is none":           {`{"max_tokens":null}`, `{"max_tokens":16}`, `{"max_tokens":64}`},
		"a budget for thinking goes":     {`{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":8000}}`, `{}`, `{"max_tokens":64,"thinking":{"type":"disabled"}}`},
		"no name at all makes no shadow": {`{"input":"x"}`, `{"input":"ping"}`, ``},
	} {
		got, ok := Shadow([]byte(c.call), []byte(c.probe), 64)
		if ok != (c.want != "") || ok && gjson.ParseBytes(got).String() != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	call := []byte(`{"max_tokens":4000}`)
	if _, ok := Shadow(call, nil, 64); !ok || string(call) != `{"max_tokens":4000}` {
		t.Errorf("the call itself was changed: %s", call)
	}
}

func TestWhatIsAttachedIsSeenAndWhatIsSaidIsNot(t *testing.T) {
	for body, alone := range map[string]bool{
		`{"messages":[{"role":"user","content":"hi"}]}`:                                          true,
		`{"messages":[{"role":"user","content":"the \"file\" and its \"source\""}]}`:             true,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://x.test"}}]}]}`: false,
		`{"messages":[{"content":[{ "type" : "file", "file":{"file_id":"f"}}]}]}`:                false,
		`{"contents":[{"parts":[{"inlineData":{"data":"AA=="}}]}]}`:                              false,
		`{"messages":[{"content":[{"type":"document","source":{"type":"url"}}]}]}`:               false,
	} {
		if TextAlone([]byte(body)) != alone {
			t.Errorf("%s: want %v", body, alone)
		}
	}
}

func FuzzShadow(f *testing.F) {
	f.Add([]byte(`{"max_tokens":4000,"thinking":{}}`), []byte(`{"max_tokens":16}`))
	f.Add([]byte(`{"generationConfig":{"maxOutputTokens":1e9}}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, call, probe []byte) {
		before := string(call)
		out, ok := Shadow(call, probe, 64)
		if string(call) != before {
			t.Fatal("the call was changed")
		}
		if !ok || !gjson.ValidBytes(call) {
			return
		}
		if !gjson.ValidBytes(out) {
			t.Fatalf("%s is no JSON", out)
		}
		for _, name := range limits {
			if v := gjson.GetBytes(out, name); v.Exists() && v.Num > 64 {
				t.Fatalf("%s is %s in %s", name, v.Raw, out)
			}
		}
	})
}
