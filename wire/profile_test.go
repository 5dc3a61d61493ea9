package wire

import (
	"slices"
	"testing"
)

// contractNames are the profile names that a configuration may use.
var contractNames = []string{
	"generic", "openai", "azure-openai", "anthropic", "gemini", "vertex", "bedrock", "mistral", "groq", "together", "openrouter", "xai", "cohere",
	"deepseek", "dashscope", "zhipu", "moonshot", "minimax", "ark", "qianfan", "hunyuan", "siliconflow", "stepfun", "ollama", "vllm", "llama.cpp",
	"lmstudio", "tgi", "litellm", "one-api",
}

func TestEveryProfileNameOfTheContractIsKnown(t *testing.T) {
	if got := Vendors(); !slices.Equal(got, contractNames) {
		t.Errorf("got %v", got)
	}
	for _, name := range contractNames {
		if v, ok := Profile(name); !ok || v.Name != name || v.Auth == "" || v.Dialect == "" || v.Quirks.ToolIDMax == 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v, ok := Profile("nobody"); ok || v.Name != "generic" {
		t.Errorf("an unknown name gives %s %v", v.Name, ok)
	}
}

func TestEveryHabitBelongsToAProfile(t *testing.T) {
	for name := range habits {
		if v, ok := Profile(name); !ok || v.Name != name {
			t.Errorf("habits of %s, which is no profile", name)
		}
	}
}

func TestTheHostOfABaseURLSelectsTheProfile(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.openai.com/v1":                                 "openai",
		"https://eu.api.openai.com/v1":                              "openai",
		"https://RES.openai.azure.com/openai/v1":                    "azure-openai",
		"https://api.anthropic.com":                                 "anthropic",
		"https://generativelanguage.googleapis.com/v1beta/openai/":  "gemini",
		"https://europe-west4-aiplatform.googleapis.com/v1":         "vertex",
		"https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1": "bedrock",
		"https://api.mistral.ai/v1":                                 "mistral",
		"https://api.groq.com/openai/v1":                            "groq",
		"https://api.together.xyz/v1":                               "together",
		"https://openrouter.ai/api/v1":                              "openrouter",
		"https://api.x.ai/v1":                                       "xai",
		"https://api.cohere.ai/compatibility/v1":                    "cohere",
		"https://api.deepseek.com":                                  "deepseek",
		"https://dashscope.aliyuncs.com/compatible-mode/v1":         "dashscope",
		"https://dashscope-intl.aliyuncs.com/compatible-mode/v1":    "dashscope",
		"https://open.bigmodel.cn/api/paas/v4":                      "zhipu",
		"https://api.z.ai/api/paas/v4":                              "zhipu",
		"https://api.moonshot.ai/v1":                                "moonshot",
		"https://api.minimaxi.com/v1":                               "minimax",
		"https://ark.cn-beijing.volces.com/api/v3":                  "ark",
		"https://qianfan.baidubce.com/v2":                           "qianfan",
		"https://api.hunyuan.cloud.tencent.com/v1":                  "hunyuan",
		"https://api.siliconflow.cn/v1":                             "siliconflow",
		"https://api.stepfun.com/v1":                                "stepfun",
		"http://127.0.0.1:11434/v1":                                 "ollama",
		"http://[::1]:1234/v1":                                      "lmstudio",
		"http://127.0.0.1:8000/v1":                                  "generic",
		"https://api.openai.com.example.net/v1":                     "generic",
		"https://example.net/api.openai.com":                        "generic",
		"":                                                          "generic",
		"://":                                                       "generic",
	} {
		if got := VendorOf(url); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}

func TestSilentThinkersAreThoseThatDoNotStreamTheirReasoning(t *testing.T) {
	for _, c := range []struct {
		vendor, model string
		want          bool
	}{
		{"openai", "o3-mini", true}, {"openai", "gpt-5.1", true}, {"openai", "gpt-5-chat-latest", false}, {"openai", "gpt-4o", false},
		{"openrouter", "openai/gpt-5", true}, {"azure-openai", "gpt-5-mini", true}, {"gemini", "gemini-2.5-pro", true},
		{"gemini", "gemini-2.5-flash-lite", false}, {"gemini", "gemini-2.0-flash", false}, {"xai", "grok-4", true}, {"xai", "grok-4.20-0309-non-reasoning", false}, {"anthropic", "claude-sonnet-5", true}, {"anthropic", "claude-sonnet-4-5", false}, {"openrouter", "anthropic/claude-opus-4-7", true}, {"xai", "grok-3-mini", false},
		{"deepseek", "deepseek-reasoner", false}, {"dashscope", "qwen3-max", false}, {"zhipu", "glm-4.6", false}, {"moonshot", "kimi-k2.5", false},
		{"generic", "deepseek-r1", false}, {"generic", "", false},
	} {
		if got := Silent(c.vendor, c.model); got != c.want {
			t.Errorf("%s %s: got %v", c.vendor, c.model, got)
		}
	}
}

func TestQuirksOfAModelAddToThoseOfItsVendor(t *testing.T) {
	v, _ := Profile("openai")
	if q := v.QuirksFor("gpt-4o"); len(q.DropParams) != 0 || q.RenameParams != nil {
		t.Errorf("gpt-4o: %+v", q)
	}
	if q := v.QuirksFor("o3"); q.RenameParams["max_tokens"] != "max_completion_tokens" || !slices.Contains(q.DropParams, "temperature") || q.ToolIDMax != 40 {
		t.Errorf("o3: %+v", q)
	}
	v, _ = Profile("moonshot")
	if q := v.QuirksFor("kimi-k2.5"); !slices.Equal(q.DropParams, []string{"store", "temperature", "top_p", "presence_penalty", "frequency_penalty"}) || q.ReasoningContent != "required" {
		t.Errorf("kimi: %+v", q)
	}
	if q := v.QuirksFor("moonshot-v1-8k"); slices.Contains(q.DropParams, "temperature") {
		t.Errorf("moonshot-v1: %+v", q)
	}
}

func TestNeverDropsWhatACallerIsPromised(t *testing.T) {
	for i := range vendors {
		for _, m := range append(vendors[i].ByModel, ModelQuirks{Quirks: vendors[i].Quirks}) {
			for _, p := range m.Quirks.DropParams {
				if slices.Contains([]string{"tools", "tool_choice", "response_format", "messages", "model", "n", "stop", "max_tokens"}, p) {
					t.Errorf("%s drops %s", vendors[i].Name, p)
				}
			}
		}
	}
}

func TestTheEnvironmentPlanHasAURLAndAModelForEachName(t *testing.T) {
	var names []string
	for i := range vendors {
		v := &vendors[i]
		names = append(names, v.Env...)
		if len(v.Env) > 0 && (v.BaseURL == "" || v.Model == "" || !v.OwnsModel(v.Model) || VendorOf(v.BaseURL) != v.Name) {
			t.Errorf("%s: %q %q", v.Name, v.BaseURL, v.Model)
		}
	}
	if want := []string{"OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "DEEPSEEK", "DASHSCOPE", "ZHIPUAI", "ZHIPU", "MOONSHOT"}; !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}

func FuzzVendorOfIsAProfile(f *testing.F) {
	f.Add("https://api.openai.com/v1")
	f.Fuzz(func(t *testing.T, url string) {
		if _, ok := Profile(VendorOf(url)); !ok {
			t.Fatal(url)
		}
	})
}
