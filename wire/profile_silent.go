package wire

import "slices"

// silentModels think before the first token without streaming what they
// think, so that a healthy answer can take minutes to begin. As of 2026-11.
var silentModels = []struct {
	prefixes, except []string
}{
	{prefixes: []string{"o1", "o3", "o4", "gpt-5", "codex-"}, except: []string{"gpt-5-chat"}},
	{prefixes: []string{"gemini-2.5", "gemini-3"}, except: []string{"gemini-2.5-flash-lite"}},
	// Their thinking is left out of the stream unless the call asks for summaries.
	{prefixes: []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-mythos"}},
	{prefixes: []string{"grok-4"}, except: []string{"grok-4-fast-non-reasoning", "grok-4-1-fast-non-reasoning"}},
}

// streamers stream the reasoning of every model they serve.
var streamers = []string{
	"deepseek", "dashscope", "zhipu", "moonshot", "minimax", "ark", "qianfan", "hunyuan", "siliconflow", "stepfun",
	"ollama", "vllm", "llama.cpp", "lmstudio", "tgi",
}

// Silent reports whether a model thinks without streaming its reasoning: its
// first-token limit has to be long, see backstop.SilentFirstToken. Models
// that stream their reasoning (DeepSeek, Qwen, GLM, Kimi, …) are not silent.
func Silent(vendor, model string) bool {
	if v, _ := Profile(vendor); slices.Contains(streamers, v.Name) {
		return false
	}
	for _, s := range silentModels {
		if hasPrefix(model, s.prefixes) && !hasPrefix(model, s.except) {
			return true
		}
	}
	return false
}
