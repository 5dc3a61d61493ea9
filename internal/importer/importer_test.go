package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstop/internal/config"
	"backstop/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Leaks(m) }

var readers = map[string]func(string, []byte) (*Result, error){"litellm": LiteLLM, "portkey": Portkey}

func anyValue(name string) (string, bool) { return "value-of-" + strings.ToLower(name), true }

// passes checks the written file with the code that serve uses.
func passes(t *testing.T, r *Result) *config.Config {
	t.Helper()
	c, _, err := config.Parse("imported", r.YAML, config.Options{Env: r.Env(anyValue)})
	if err != nil {
		t.Errorf("%v\n%s", err, r.YAML)
	}
	return c
}

func TestFilesOfOtherGatewaysBecomeOurs(t *testing.T) {
	for kind, read := range readers {
		files, err := filepath.Glob("testdata/" + kind + "/*.*")
		if err != nil || len(files) < 4 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".golden") {
				continue
			}
			t.Run(filepath.Base(file), func(t *testing.T) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				r, err := read(file, data)
				if err != nil {
					t.Fatal(err)
				}
				var report bytes.Buffer
				if err := r.WriteReport(&report); err != nil {
					t.Fatal(err)
				}
				passes(t, r)
				both := string(r.YAML) + report.String()
				if strings.Contains(strings.ToUpper(both), "CANARY") {
					t.Errorf("a credential of the file comes out:\n%s", both)
				}
				again, err := read(file, data)
				if err != nil || !bytes.Equal(again.YAML, r.YAML) {
					t.Error("the same file gives two answers")
				}
				testkit.Golden(t, kind+"/"+filepath.Base(file)+".golden", []byte(string(r.YAML)+"---- report\n"+report.String()))
			})
		}
	}
}

// The account offers a last tier. It fits as it stands below the tiers that
// were written, and is not there before somebody asks for it.
func TestTheLastTierOfTheAccountFitsTheFile(t *testing.T) {
	for kind, text := range map[string]string{
		"litellm": "model_list: [{model_name: a, litellm_params: {model: openai/gpt-4o}}]",
		"portkey": `{"provider": "openai", "cache": "simple", "override_params": {"model": "gpt-4o"}}`,
	} {
		t.Run(kind, func(t *testing.T) {
			r, err := readers[kind]("file", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var report strings.Builder
			if err := r.WriteReport(&report); err != nil || !strings.Contains(report.String(), "\n  "+lastTier+"\n") {
				t.Fatalf("%v\n%s", err, report.String())
			}
			last := func() bool {
				tiers := passes(t, r).Plan.Routes[0].Tiers
				l := tiers[len(tiers)-1].Local
				return l != nil && l.Template != nil
			}
			if last() {
				t.Errorf("a text that nobody asked for:\n%s", r.YAML)
			}
			r.YAML = append(r.YAML, "      "+lastTier+"\n"...)
			if !last() {
				t.Errorf("no text:\n%s", r.YAML)
			}
		})
	}
}

func TestFilesThatHoldNothingAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ kind, text, want string }{
		"an empty file":           {"litellm", "", "nothing that can be called"},
		"no model with a vendor":  {"litellm", "model_list: [{model_name: a, litellm_params: {model: sagemaker/x}}]", "nothing that can be called"},
		"a list":                  {"litellm", "[1, 2]", "nothing that can be called"},
		"broken YAML":             {"litellm", "a: [", "YAML"},
		"broken JSON":             {"portkey", `{"a": `, "not valid JSON"},
		"JSON with more behind":   {"portkey", `{} {}`, "something follows"},
		"a JSON list":             {"portkey", `[]`, "a config is a JSON object"},
		"JSON without a provider": {"portkey", `{"targets": [{"api_key": "x"}]}`, "nothing that can be called"},
		"deep JSON":               {"portkey", strings.Repeat(`{"targets":[`, 100), "nests too deeply"},
		"a large file":            {"portkey", strings.Repeat(" ", 2<<20), "is larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := readers[c.kind]("file", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("result %+v, error %v", r, err)
			}
		})
	}
}

func TestALiteralKeyNeverTakesTheNameOfAnotherVariable(t *testing.T) {
	r, err := LiteLLM("f", []byte(`model_list:
  - {model_name: a, litellm_params: {model: openai/gpt-4o, api_key: literal-one}}
  - {model_name: b, litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY}}
  - {model_name: c, litellm_params: {model: mistral/x, api_key: literal-two}}
  - {model_name: d, litellm_params: {model: mistral/x}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := "MISTRAL_API_KEY MISTRAL_API_KEY_DEFAULT OPENAI_API_KEY OPENAI_API_KEY_2"
	if got := strings.Join(r.Needs, " "); got != want {
		t.Errorf("variables %s, want %s", got, want)
	}
}

func TestAnUpstreamAtOurOwnPortMovesUs(t *testing.T) {
	r, err := Portkey("f", []byte(`{"provider": "openai", "custom_host": "http://localhost:3000/v1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if c := passes(t, r); c == nil || c.Listen[0] != "127.0.0.1:3010" {
		t.Errorf("written:\n%s", r.YAML)
	}
}

func TestEqualUpstreamsAreOne(t *testing.T) {
	r, err := LiteLLM("f", []byte(`model_list:
  - {model_name: a, litellm_params: {model: openai/gpt-4o}}
  - {model_name: b, litellm_params: {model: openai/gpt-4o-mini}}
  - {model_name: c, litellm_params: {model: openai/gpt-4o, timeout: 20}}
`))
	if err != nil || r.Upstreams != 2 || r.Routes != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestKeysAreKnownByTheirLooks(t *testing.T) {
	for text, want := range map[string]bool{
		"sk-abcdefghijklmnop": true, "Bearer x": true, "AKIAIOSFODNN7EXAMPLE": true, "hf_abcdefghijklmnopqr": true, "0123456789abcdef0123456789abcdef": true,
		"gpt-4o": false, "claude-sonnet-4-5-20250929": false, "my-resource": false, "": false, "accounts/fireworks/models/llama-v3p1-405b-instruct": false,
	} {
		if got := looksSecret(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Whatever stands in a file, what is written passes check and shows no key.
func FuzzLiteLLM(f *testing.F) { fuzzReader(f, "litellm") }

func FuzzPortkey(f *testing.F) { fuzzReader(f, "portkey") }

func fuzzReader(f *testing.F, kind string) {
	files, err := filepath.Glob("testdata/" + kind + "/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, ".golden") {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readers[kind]("file", data)
		if err != nil {
			return
		}
		passes(t, r)
		var report bytes.Buffer
		if err := r.WriteReport(&report); err != nil || strings.ContainsAny(report.String(), "\x1b\x00\r") {
			t.Errorf("report %q, %v", report.String(), err)
		}
	})
}
