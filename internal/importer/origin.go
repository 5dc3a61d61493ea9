package importer

import (
	"slices"
	"strings"

	"backstop"
	"backstop/wire"
)

// origin is where the models behind a prefix, or a name, of another gateway
// live, and how they are called by us.
type origin struct {
	names   []string // what the other gateways call it
	dialect backstop.Dialect
	vendor  string // profile, "" = by the host
	baseURL string // where there is one for everybody
	env     string // variable that usually holds the key, "" = none is needed
	below   string // what follows an address that names no version
}

// origins as of 2026-11.
var origins = []origin{
	{[]string{"openai", "text-completion-openai", "custom_openai", "openai_like"}, backstop.OpenAI, "", "https://api.openai.com/v1", "OPENAI_API_KEY", ""},
	{[]string{"azure", "azure-openai", "azure_text"}, backstop.OpenAI, "azure-openai", "", "AZURE_API_KEY", "/openai/v1"},
	{[]string{"azure_ai", "azure-ai"}, backstop.OpenAI, "azure-openai", "", "AZURE_AI_API_KEY", "/openai/v1"},
	{[]string{"anthropic", "anthropic_text"}, backstop.Anthropic, "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", ""},
	{[]string{"gemini", "google", "palm"}, backstop.Gemini, "gemini", "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", ""},
	{[]string{"vertex_ai", "vertex_ai_beta", "vertex-ai"}, backstop.OpenAI, "vertex", "", "VERTEX_ACCESS_TOKEN", ""},
	{[]string{"bedrock", "bedrock_converse"}, backstop.OpenAI, "bedrock", "", "AWS_BEARER_TOKEN_BEDROCK", ""},
	{[]string{"mistral", "mistral-ai", "codestral"}, backstop.OpenAI, "mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", ""},
	{[]string{"groq"}, backstop.OpenAI, "groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", ""},
	{[]string{"together_ai", "together-ai"}, backstop.OpenAI, "together", "https://api.together.xyz/v1", "TOGETHERAI_API_KEY", ""},
	{[]string{"openrouter"}, backstop.OpenAI, "openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ""},
	{[]string{"xai", "x-ai"}, backstop.OpenAI, "xai", "https://api.x.ai/v1", "XAI_API_KEY", ""},
	{[]string{"cohere", "cohere_chat"}, backstop.OpenAI, "cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY", ""},
	{[]string{"deepseek"}, backstop.OpenAI, "deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", ""},
	{[]string{"dashscope"}, backstop.OpenAI, "dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", ""},
	{[]string{"zai", "z-ai"}, backstop.OpenAI, "zhipu", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", ""},
	{[]string{"zhipu"}, backstop.OpenAI, "zhipu", "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY", ""},
	{[]string{"moonshot"}, backstop.OpenAI, "moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", ""},
	{[]string{"minimax"}, backstop.OpenAI, "minimax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", ""},
	{[]string{"volcengine", "ark"}, backstop.OpenAI, "ark", "https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY", ""},
	{[]string{"siliconflow"}, backstop.OpenAI, "siliconflow", "https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY", ""},
	{[]string{"perplexity", "perplexity-ai"}, backstop.OpenAI, "generic", "https://api.perplexity.ai", "PERPLEXITYAI_API_KEY", ""},
	{[]string{"fireworks_ai", "fireworks-ai"}, backstop.OpenAI, "generic", "https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY", ""},
	{[]string{"deepinfra"}, backstop.OpenAI, "generic", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY", ""},
	{[]string{"cerebras"}, backstop.OpenAI, "generic", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", ""},
	{[]string{"sambanova"}, backstop.OpenAI, "generic", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY", ""},
	{[]string{"nvidia_nim"}, backstop.OpenAI, "generic", "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY", ""},
	{[]string{"huggingface"}, backstop.OpenAI, "generic", "https://router.huggingface.co/v1", "HUGGINGFACE_API_KEY", ""},
	{[]string{"hosted_vllm", "vllm"}, backstop.OpenAI, "vllm", "", "", "/v1"},
	{[]string{"ollama", "ollama_chat"}, backstop.OpenAI, "ollama", "http://localhost:11434/v1", "", "/v1"},
	{[]string{"lm_studio", "lm-studio"}, backstop.OpenAI, "lmstudio", "http://localhost:1234/v1", "", "/v1"},
	{[]string{"llamafile", "llama_cpp", "xinference", "triton"}, backstop.OpenAI, "generic", "", "", "/v1"},
	{[]string{"litellm_proxy"}, backstop.OpenAI, "litellm", "", "LITELLM_PROXY_API_KEY", ""},
}

// mainland are the addresses for keys of mainland China, by those for the rest
// of the world. A key of the one is refused at the other.
var mainland = map[string]string{
	"https://dashscope-intl.aliyuncs.com/compatible-mode/v1": "https://dashscope.aliyuncs.com/compatible-mode/v1",
	"https://api.z.ai/api/paas/v4":                           "https://open.bigmodel.cn/api/paas/v4",
	"https://api.moonshot.ai/v1":                             "https://api.moonshot.cn/v1",
	"https://api.minimax.io/v1":                              "https://api.minimaxi.com/v1",
}

// originOf finds an origin by one of its names.
func originOf(name string) (origin, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, o := range origins {
		if slices.Contains(o.names, name) {
			return o, true
		}
	}
	return origin{}, false
}

// originOfModel finds the origin of a model that was named without a prefix.
func originOfModel(model string) (origin, bool) {
	for _, name := range wire.Vendors() {
		if p, ok := wire.Profile(name); ok && p.OwnsModel(model) {
			for _, o := range origins {
				if o.vendor == name || name == "openai" && o.names[0] == "openai" {
					return o, true
				}
			}
		}
	}
	return origin{}, false
}

// originWithin finds an origin whose name is a part of another name, such as
// that of a stored key: prod-openai-eu.
func originWithin(name string) (origin, bool) {
	parts := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '-' || c == '_' || c == '/' || c == '.' || c == '@' || c == ' ' })
	if slices.Contains(parts, "azure") {
		return originOf("azure")
	}
	for _, p := range parts {
		if o, ok := originOf(p); ok {
			return o, true
		}
	}
	return origin{}, false
}
