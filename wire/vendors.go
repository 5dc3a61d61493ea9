package wire

import "backstop"

// Everything that is known of single vendors stands in this file, as data: who
// they are and what they take, which models think in silence, and what their
// error codes mean. `backstop explain` shows it.

// vendors is the table of profiles; the first is the generic one. Hosts,
// models and habits as of 2026-11. Models age fast: set them in the plan.
//
// Responses, as of 2026-11, by the vendors' own pages: all that say so serve
// it, most without state (Groq, OpenRouter and Ollama know no earlier answers);
// the local servers since 2025 (LM Studio 0.3.29, vLLM 0.10, Ollama 0.13.3;
// one that is older is to be called generic). DeepSeek and Together serve it
// for some of their models, Bedrock too, and llama.cpp makes a chat of it
// itself: these are asked for a chat, which they serve for all.
var vendors = []Vendor{
	{Name: genericName, Dialect: backstop.OpenAI, Auth: "bearer", Quirks: plainQuirks},

	{
		Name: "openai", Dialect: backstop.OpenAI, Auth: "bearer",
		BaseURL: "https://api.openai.com/v1", Model: "gpt-4o", Env: []string{"OPENAI"},
		Owns:  []string{"gpt-", "chatgpt-", "o1", "o3", "o4", "codex-", "text-embedding-", "computer-use"},
		Hosts: []string{"api.openai.com", "*.api.openai.com"}, Responses: true,
		Quirks: backstop.Quirks{ToolIDMax: 40, ReasoningContent: "optional"}, ByModel: openAIReasoning,
	},
	{
		Name: "azure-openai", Dialect: backstop.OpenAI, Auth: "api-key",
		Hosts: []string{"*.openai.azure.com", "*.openai.azure.us", "*.cognitiveservices.azure.com", "*.services.ai.azure.com"}, Responses: true,
		Quirks: backstop.Quirks{ToolIDMax: 40, ReasoningContent: "optional"}, ByModel: openAIReasoning,
	},
	{
		Name: "anthropic", Dialect: backstop.Anthropic, Auth: "x-api-key",
		BaseURL: "https://api.anthropic.com", Model: "claude-sonnet-4-5", Env: []string{"ANTHROPIC"},
		Owns: []string{"claude-"}, Hosts: []string{"api.anthropic.com"}, Quirks: plainQuirks,
		ByModel: []ModelQuirks{{
			// Sampling parameters are gone: any value but the default is a 400
			// ("temperature is deprecated for this model", since 2026-04).
			Prefixes: []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-mythos"},
			Quirks:   backstop.Quirks{DropParams: []string{"temperature", "top_p", "top_k"}},
		}},
	},
	{
		Name: "gemini", Dialect: backstop.Gemini, Auth: "x-goog-api-key",
		BaseURL: "https://generativelanguage.googleapis.com", Model: "gemini-2.5-flash", Env: []string{"GEMINI", "GOOGLE"},
		Owns: []string{"gemini-", "gemma-"}, Hosts: []string{"generativelanguage.googleapis.com"}, Quirks: plainQuirks,
	},
	{
		Name: "vertex", Dialect: backstop.OpenAI, Auth: "bearer",
		Hosts: []string{"aiplatform.googleapis.com", "*-aiplatform.googleapis.com", "*.aiplatform.googleapis.com"}, Quirks: plainQuirks,
	},
	{Name: "bedrock", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{"bedrock*.amazonaws.com"}, Quirks: plainQuirks},
	{
		Name: "mistral", Dialect: backstop.OpenAI, Auth: "bearer",
		Owns:  []string{"mistral-", "codestral-", "ministral-", "magistral-", "pixtral-", "open-mi"},
		Hosts: []string{"api.mistral.ai", "codestral.mistral.ai"},
		// Unknown fields are a 422.
		Quirks: backstop.Quirks{
			DropParams: []string{"store", "metadata", "service_tier", "logprobs", "top_logprobs", "logit_bias", "user"}, ToolIDMax: 64, ReasoningContent: "optional",
			RenameParams: map[string]string{"max_completion_tokens": "max_tokens", "seed": "random_seed"},
		},
	},
	{
		Name: "groq", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{"api.groq.com"}, Responses: true,
		Quirks: backstop.Quirks{DropParams: []string{"logprobs", "top_logprobs", "logit_bias"}, ToolIDMax: 64, ReasoningContent: "optional"},
	},
	{Name: "together", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{"api.together.xyz", "api.together.ai"}, Quirks: plainQuirks},
	{Name: "openrouter", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{"openrouter.ai", "*.openrouter.ai"}, Responses: true, Quirks: plainQuirks},
	{
		Name: "xai", Dialect: backstop.OpenAI, Auth: "bearer", Owns: []string{"grok-"}, Hosts: []string{"api.x.ai", "*.api.x.ai"},
		Responses: true, Quirks: plainQuirks,
		ByModel: []ModelQuirks{{
			// "Model … does not support parameter presencePenalty", even at 0.
			Prefixes: []string{"grok-3-mini", "grok-4", "grok-code", "grok-build"},
			Quirks:   backstop.Quirks{DropParams: []string{"presence_penalty", "frequency_penalty"}},
		}},
	},
	{
		Name: "cohere", Dialect: backstop.OpenAI, Auth: "bearer", Owns: []string{"command", "embed-", "c4ai-"},
		Hosts: []string{"api.cohere.ai", "api.cohere.com"}, Quirks: plainQuirks,
	},
	{
		Name: "deepseek", Dialect: backstop.OpenAI, Auth: "bearer",
		BaseURL: "https://api.deepseek.com/v1", Model: "deepseek-chat", Env: []string{"DEEPSEEK"},
		Owns: []string{"deepseek-"}, Hosts: []string{"api.deepseek.com"},
		// After a tool call the reasoning has to be sent back in every later turn.
		Quirks: backstop.Quirks{ToolIDMax: 64, ReasoningContent: "required"},
	},
	{
		Name: "dashscope", Dialect: backstop.OpenAI, Auth: "bearer",
		BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", Model: "qwen-plus", Env: []string{"DASHSCOPE"},
		Owns: []string{"qwen", "qwq", "qvq"}, Hosts: []string{"dashscope*.aliyuncs.com", "*.maas.aliyuncs.com"}, Responses: true, Quirks: plainQuirks,
	},
	{
		Name: "zhipu", Dialect: backstop.OpenAI, Auth: "bearer",
		BaseURL: "https://open.bigmodel.cn/api/paas/v4", Model: "glm-4.5", Env: []string{"ZHIPUAI", "ZHIPU"},
		Owns: []string{"glm-", "chatglm", "cogview", "codegeex"}, Hosts: []string{"open.bigmodel.cn", "api.z.ai"}, Quirks: plainQuirks,
	},
	{
		Name: "moonshot", Dialect: backstop.OpenAI, Auth: "bearer",
		BaseURL: "https://api.moonshot.cn/v1", Model: "kimi-k2.5", Env: []string{"MOONSHOT"},
		Owns: []string{"kimi-", "moonshot-"}, Hosts: []string{"api.moonshot.cn", "api.moonshot.ai", "api.kimi.com"},
		Quirks: backstop.Quirks{DropParams: []string{"store"}, ToolIDMax: 64, ReasoningContent: "optional"},
		ByModel: []ModelQuirks{{
			// Sampling is fixed: any other value is a 400 ("only 1 is allowed").
			Prefixes: []string{"kimi-"},
			Quirks: backstop.Quirks{
				DropParams: []string{"temperature", "top_p", "presence_penalty", "frequency_penalty"}, ReasoningContent: "required",
			},
		}},
	},
	{
		Name: "minimax", Dialect: backstop.OpenAI, Auth: "bearer", Owns: []string{"minimax-", "abab"},
		Hosts: []string{"api.minimaxi.com", "api.minimax.io", "api.minimax.chat"}, Quirks: plainQuirks,
	},
	{
		Name: "ark", Dialect: backstop.OpenAI, Auth: "bearer", Owns: []string{"doubao-", "ep-"},
		Hosts: []string{"ark*.volces.com", "ark*.bytepluses.com"}, Responses: true, Quirks: plainQuirks,
	},
	{
		Name: "qianfan", Dialect: backstop.OpenAI, Auth: "bearer", Owns: []string{"ernie-"},
		Hosts: []string{"qianfan*.baidubce.com", "aip.baidubce.com"}, Quirks: plainQuirks,
	},
	{
		Name: "hunyuan", Dialect: backstop.OpenAI, Auth: "bearer", Owns: []string{"hunyuan-"},
		Hosts: []string{"api.hunyuan.cloud.tencent.com", "hunyuan*.tencentcloudapi.com"}, Quirks: plainQuirks,
	},
	{Name: "siliconflow", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{"api.siliconflow.cn", "api.siliconflow.com"}, Quirks: plainQuirks},
	{Name: "stepfun", Dialect: backstop.OpenAI, Auth: "bearer", Owns: []string{"step-"}, Hosts: []string{"api.stepfun.com", "api.stepfun.ai"}, Quirks: plainQuirks},
	{Name: "ollama", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{":11434", "ollama.com"}, Responses: true, Quirks: plainQuirks},
	{Name: "vllm", Dialect: backstop.OpenAI, Auth: "bearer", Responses: true, Quirks: plainQuirks},
	{Name: "llama.cpp", Dialect: backstop.OpenAI, Auth: "bearer", Quirks: plainQuirks},
	{Name: "lmstudio", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{":1234"}, Responses: true, Quirks: plainQuirks},
	{Name: "tgi", Dialect: backstop.OpenAI, Auth: "bearer", Quirks: plainQuirks},
	{Name: "litellm", Dialect: backstop.OpenAI, Auth: "bearer", Hosts: []string{":4000"}, Responses: true, Quirks: plainQuirks},
	{Name: "one-api", Dialect: backstop.OpenAI, Auth: "bearer", Quirks: plainQuirks},
}

var plainQuirks = backstop.Quirks{ToolIDMax: 64, ReasoningContent: "optional"}

// openAIReasoning: reasoning models refuse max_tokens and sampling parameters.
var openAIReasoning = []ModelQuirks{{
	Prefixes: []string{"o1", "o3", "o4", "gpt-5"},
	Except:   []string{"gpt-5-chat"},
	Quirks: backstop.Quirks{
		RenameParams: map[string]string{"max_tokens": "max_completion_tokens"},
		DropParams: []string{
			"temperature", "top_p", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias",
		},
	},
}}

// silentModels think before the first token without streaming what they
// think, so that a healthy answer can take minutes to begin. As of 2026-11.
var silentModels = []struct {
	prefixes, except []string
}{
	{prefixes: []string{"o1", "o3", "o4", "gpt-5", "codex-"}, except: []string{"gpt-5-chat"}},
	{prefixes: []string{"gemini-2.5", "gemini-3"}, except: []string{"gemini-2.5-flash-lite"}},
	// Their thinking is left out of the stream unless the call asks for summaries.
	{prefixes: []string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-mythos"}},
	{prefixes: []string{"grok-4"}},
}

// streamers stream the reasoning of every model they serve.
var streamers = []string{
	"deepseek", "dashscope", "zhipu", "moonshot", "minimax", "ark", "qianfan", "hunyuan", "siliconflow", "stepfun",
	"ollama", "vllm", "llama.cpp", "lmstudio", "tgi",
}

// refinements hold for every vendor.
var refinements = []refinement{
	{rate, "request too large", oversize},
	{rate, "input or output tokens must be reduced", oversize},
	{tooLong, "too many tokens&please wait", rate},
	{param, "capacity exceeded", overload},
	{model, "no available channel", overload},
	{model, "无可用渠道", overload},
}

var googleWords = []wordRule{
	{quota, on429 | on200, []string{"perday", "per day", "per_day"}},
	{rate, on429 | on200, []string{"current quota", "quota exceeded for", "exceeded the provisioned throughput"}},
}

var habits = map[string]habit{
	// "current quota" is said of every limit; the quotaId says which.
	"gemini": {words: googleWords},
	"vertex": {words: googleWords},

	"mistral": {codes: codeTable{"1300": rate, "3505": overload}},

	"openrouter": {codes: codeTable{"flagged_input": filter}},

	// insufficient_quota is the throttle on tokens per minute here, and so is
	// AllocationQuota unless it speaks of the free one.
	"dashscope": {
		codes: codeTable{
			"insufficient_quota": rate, "throttling.allocationquota": rate, "throttling.ratequota": rate,
			"model.notfound": model, "modelunavailable": overload, "commoditynotpurchased": model,
		},
		refine: []refinement{{rate, "free&allocated", quota}, {rate, "free tier", quota}, {rate, "free quota", quota}, {rate, "免费", quota}},
	},

	"zhipu": {codes: codeTable{
		"1000": auth, "1001": auth, "1002": auth, "1003": auth, "1004": auth, "1005": auth,
		"1100": auth, "1110": auth, "1111": auth, "1112": auth, "1113": quota, "1120": auth, "1121": auth,
		"1200": server, "1210": param, "1211": model, "1212": param, "1213": param, "1214": param, "1215": param,
		"1220": auth, "1221": model, "1222": param, "1230": server, "1231": conflict, "1234": server, "1261": tooLong,
		"1300": filter, "1301": filter, "1302": rate, "1303": rate, "1304": quota, "1305": overload, "1308": quota,
		"1309": quota, "1310": quota, "1311": model, "1312": overload, "1313": quota,
	}},

	// TPD is a day, all others are minutes or less.
	"moonshot": {
		refine: []refinement{{rate, "tpd", quota}},
		words:  []wordRule{{quota, on403 | on429, []string{"cycle limit", "usage limit", "billing cycle", "membership"}}},
	},

	"minimax": {numbered: true, codes: codeTable{
		"1000": server, "1001": late, "1002": rate, "1004": auth, "1008": quota, "1013": server, "1024": server,
		"1026": filter, "1027": filter, "1033": server, "1039": rate, "1041": rate, "1042": param, "2013": param,
		"2045": ramp, "2049": auth, "2056": quota,
	}},

	"qianfan": {codes: codeTable{
		"1": server, "2": overload, "3": param, "4": rate, "6": auth, "13": auth, "14": auth, "15": auth, "17": quota,
		"18": rate, "19": quota, "100": auth, "110": auth, "111": auth,
		"336000": server, "336001": param, "336002": param, "336003": param, "336004": auth, "336005": server,
		"336006": param, "336007": param, "336100": overload, "336103": tooLong, "336104": param, "336117": tooLong,
		"336501": rate, "336502": rate, "336503": rate, "336504": rate, "336505": rate,
	}},

	"siliconflow": {
		codes: codeTable{"20015": param, "30001": quota, "30003": model, "50501": overload, "50505": overload, "50507": server},
		words: []wordRule{{quota, on429, []string{"rpd limit", "tpd limit", "ipd limit"}}},
	},

	// The relay hides what its own upstream said; only the status is left.
	"one-api": {relayed: map[int]ruling{401: server, 402: server, 403: server, 429: overload}},
}
