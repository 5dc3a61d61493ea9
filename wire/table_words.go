package wire

import (
	"strings"
)

// wordRule is a ruling that the telling words of a message decide. Words of
// one entry that are joined with "&" must all be there. Words are believed
// only with the statuses they were seen with.
type wordRule struct {
	ruling ruling
	on     statusGroup
	words  []string
}

// wordRules are asked in order when neither code nor type decided. Messages
// are matched in lower case.
var wordRules = []wordRule{
	{badJSON, on400 | on200, []string{"failed to call a function", "failed to generate json", "failed to validate json", "failed_generation"}},

	{filter, on400 | on403 | on200, []string{
		"content exists risk", "content policy", "content filtering", "content management policy", "contentpolicyviolation", "safety system",
		"content_filter", "content filter", "was flagged", "been flagged", "requires moderation", "moderation blocked",
		"high risk", "sensitive content", "sensitive words", "sensitive information", "new_sensitive", "inappropriate content",
		"usage policy", "usage policies", "prohibited content", "unsafe content", "敏感", "违法", "违规", "不安全", "审核不通过", "高风险",
	}},

	{tooLong, on400 | on403 | on500 | on200, []string{
		"maximum context length", "context length", "context size", "context window", "contextwindow", "context_length",
		"context overflow", "prompt is too long", "prompt too long", "input is too long", "input too long", "input length should be",
		"input length&exceed", "too many tokens", "too many input tokens", "input token count", "exceeded model token limit",
		"maximum prompt length", "maximum number of tokens allowed", "max_new_tokens` must be <=", "inputs` must have less than", "inputs must have less than", "maximum model length", "max_model_len", "too long to fit",
		"reduce the length of the", "reduce your message size", "max_total_tokens", "tokens_too_long", "超长", "输入过长",
		"上下文长度", "输入长度&超",
	}},

	{auth, on400 | on403 | on200, []string{
		"api key not valid", "incorrect api key", "invalid api key", "invalid api-key", "invalid x-api-key", "api key expired",
		"api key is invalid", "api key has expired", "access token invalid", "unauthorized", "invalid authentication",
		"authentication fail", "authentication credentials", "country, region", "location is not supported",
		"not available in your country", "not available in your region", "not supported in your country",
		"not supported in your region", "身份验证", "鉴权失败", "密钥无效", "无效的令牌", "令牌已过期",
	}},

	{auth, on200, []string{"invalid token", "token expired", "token is invalid"}},

	{quota, on400 | on401 | on403 | on429 | on500 | on200, []string{
		"credit balance", "insufficient balance", "insufficient_balance", "balance is insufficient", "balance is too low",
		"balance not enough", "insufficient quota", "insufficient credit", "insufficient fund", "not enough credit",
		"exceeded your current quota", "exceeded current quota", "current quota exceeded", "quota exceeded", "exceeded your quota", "quota is not enough",
		"quota has been exhausted", "exhausted its free", "api usage limits", "usage limit reached", "usage limit exceeded", "spend limit",
		"spending limit", "spending cap", "credits&exhausted", "credits&depleted", "available credits", "more credits", "out of credits",
		"prepaid credit", "no credits", "billing details", "billing hard limit", "payment required", "arrear", "overdue",
		"in good standing", "budget has been exceeded", "budget exceeded", "exceeded budget", "free tier&exhausted",
		"call volume quota", "account is not active", "欠费", "余额不足", "充值", "额度不足", "额度已用", "额度用尽", "配额不足", "资源包", "使用上限", "套餐",
	}},
	{quota, on403 | on429 | on200, []string{
		"usage limit", "per day", "per-day", "/ day", "/day", "daily", "per month", "per-month", "/ month", "/month", "monthly", "每日", "每天", "当日", "每月",
	}},

	{ramp, on400 | on429 | on503 | on200, []string{
		"increased too quickly", "increased too fast", "usage increase rate", "acceleration limit", "burst rate", "request burst",
	}},

	{overload, on429 | on500 | on503 | on200, []string{
		"overload", "at capacity", "over capacity", "capacity exceeded", "insufficient capacity", "no capacity", "server busy", "server is busy",
		"service is busy", "too busy", "high demand", "high load", "heavy load", "loading model", "model is loading", "is currently loading", "maximum pending requests",
		"queue is full", "no free slot", "service unavailable", "temporarily unavailable", "no available channel", "无可用渠道",
		"访问量过大", "负载", "繁忙", "过载", "算力不足",
	}},

	{rate, on400 | on403 | on500 | on200, []string{
		"rate limit", "rate-limit", "rate_limit", "ratelimit", "too many requests", "too many concurrent", "concurrency limit", "requests per",
		"tokens per minute", "tpm limit", "rpm limit", "request was throttled", "限流", "速率限制", "频率限制", "请求频率", "并发",
	}},

	{model, on400 | on401 | on403 | on404 | on200, []string{
		"model&does not exist", "model&not exist", "model&not found", "models/&is not found", "model not found", "no such model",
		"unknown model", "invalid model", "not a valid model", "unsupported model", "model&deprecated", "model&decommissioned",
		"model&no longer", "model&not activated", "model disabled", "model is disabled", "model&has been disabled", "model&access to it",
		"access to model", "access to the model", "no models loaded", "no endpoints found for", "on-demand throughput", "model identifier is invalid", "could not resolve the foundation model", "model&end of its life",
		"no allowed providers", "matching your data policy",
		"deployment&does not exist", "model&is not available", "模型不存在", "模型&未开通", "模型&下线", "没有找到模型",
	}},
	{model, on404, []string{"^model:", "^models/"}},

	{server, on400 | on200, []string{
		"unexpected eof", "has crashed", "exit code", "runner process", "internal server error", "cuda error", "cuda out of memory",
		"out of memory", "connection refused", "connection reset", "broken pipe", "model unloaded", "model is unloaded", "model was unloaded", "model has unloaded", "failed to load model",
	}},

	{late, on500 | on200, []string{"timed out", "timeout", "time-out", "deadline exceeded", "超时"}},

	{param, on200, []string{
		"unexpected endpoint", "validation error", "invalid request", "invalid parameter", "unsupported parameter", "not supported",
		"must be at least", "must be at most", "must be less", "must be greater", "is required", "参数",
	}},
}

func (r *wordRule) matches(text string) bool {
	for _, w := range r.words {
		if hasWords(text, w) {
			return true
		}
	}
	return false
}

func hasWords(text, pattern string) bool {
	if rest, ok := strings.CutPrefix(pattern, "^"); ok {
		return strings.HasPrefix(text, rest)
	}
	for {
		word, rest, more := strings.Cut(pattern, "&")
		if !strings.Contains(text, word) {
			return false
		}
		if !more {
			return true
		}
		pattern = rest
	}
}

func findWords(rules []wordRule, on statusGroup, text string) ruling {
	if text == "" {
		return unruled
	}
	for i := range rules {
		if rules[i].on&on != 0 && rules[i].matches(text) {
			return rules[i].ruling
		}
	}
	return unruled
}
