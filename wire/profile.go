package wire

import (
	"net/url"
	"slices"
	"strings"

	"backstop"
)

// Vendor is the profile of one kind of upstream: where it lives, how it is
// spoken to and what it takes. It is read-only.
type Vendor struct {
	Name    string
	Dialect backstop.Dialect // the one its own endpoint speaks
	Auth    string           // bearer | x-api-key | api-key | x-goog-api-key
	// BaseURL and Model are what a plan made from the environment uses, ""
	// where there is none that suits everybody.
	BaseURL string
	Model   string
	// Env holds the prefixes of its environment names, so that OPENAI stands
	// for OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL.
	Env []string
	// Owns holds the prefixes of the model names that are this vendor's own.
	Owns []string
	// Hosts select the profile by the host of a base URL: a name, "*.suffix",
	// "prefix*.suffix" or ":port".
	Hosts []string
	// Responses: /responses is served natively, for every model.
	Responses bool
	// Quirks hold for every model, ByModel for some in addition.
	Quirks  backstop.Quirks
	ByModel []ModelQuirks
}

// ModelQuirks are the quirks of the models whose name starts with one of the
// prefixes and with none of the exceptions.
type ModelQuirks struct {
	Prefixes []string
	Except   []string
	Quirks   backstop.Quirks
}

const genericName = "generic"

// aliases are names that are met for a profile of another name.
var aliases = map[string]string{
	"": genericName, "azure": "azure-openai", "gemini-compat": "gemini", "google": "gemini", "qwen": "dashscope", "glm": "zhipu", "kimi": "moonshot",
	"new-api": "one-api", "llamacpp": "llama.cpp", "volcengine": "ark", "cloudflare": genericName, "nginx": genericName,
	"aws-alb": genericName,
}

// Profile returns the profile of a name that a configuration may use as
// `vendor`, and for a name that it does not know the generic one and false.
func Profile(name string) (*Vendor, bool) {
	if to, ok := aliases[name]; ok {
		name = to
	}
	for i := range vendors {
		if vendors[i].Name == name {
			return &vendors[i], true
		}
	}
	return &vendors[0], false
}

// Vendors returns the profile names in the order of the table.
func Vendors() []string {
	names := make([]string, len(vendors))
	for i := range vendors {
		names[i] = vendors[i].Name
	}
	return names
}

// VendorOf returns the profile name for a base URL, by its host: what `vendor:
// auto` means. Unknown hosts are generic.
func VendorOf(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil || u.Hostname() == "" {
		return genericName
	}
	host, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	for i := range vendors {
		for _, pattern := range vendors[i].Hosts {
			if matchHost(pattern, host, port) {
				return vendors[i].Name
			}
		}
	}
	return genericName
}

func matchHost(pattern, host, port string) bool {
	if p, ok := strings.CutPrefix(pattern, ":"); ok {
		return p == port
	}
	prefix, suffix, star := strings.Cut(pattern, "*")
	if !star {
		return host == pattern
	}
	return len(host) >= len(prefix)+len(suffix) && strings.HasPrefix(host, prefix) && strings.HasSuffix(host, suffix)
}

// OwnsModel reports whether a model name is one of the vendor's own.
func (v *Vendor) OwnsModel(name string) bool { return hasPrefix(name, v.Owns) }

// QuirksFor returns what the profile says about a model. The maps are shared:
// copy before changing them.
func (v *Vendor) QuirksFor(name string) backstop.Quirks {
	q := v.Quirks
	for i := range v.ByModel {
		m := &v.ByModel[i]
		if hasPrefix(name, m.Prefixes) && !hasPrefix(name, m.Except) {
			q = addQuirks(q, &m.Quirks)
		}
	}
	return q
}

func addQuirks(q backstop.Quirks, more *backstop.Quirks) backstop.Quirks {
	q.DropParams = append(append([]string(nil), q.DropParams...), more.DropParams...)
	q.RenameParams = mergeMaps(q.RenameParams, more.RenameParams)
	q.SetParams = mergeMaps(q.SetParams, more.SetParams)
	q.NoTools = q.NoTools || more.NoTools
	q.Prefill = q.Prefill || more.Prefill
	if more.ReasoningContent != "" {
		q.ReasoningContent = more.ReasoningContent
	}
	if more.ToolIDMax != 0 {
		q.ToolIDMax = more.ToolIDMax
	}
	return q
}

func mergeMaps[V any](a, b map[string]V) map[string]V {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]V, len(a)+len(b))
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}

// hasPrefix compares with the last part of a name such as "openai/gpt-5".
func hasPrefix(name string, prefixes []string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// Silent reports whether a model thinks without streaming its reasoning: its
// first-token limit has to be long, see backstop.SilentFirstToken. Models
// that stream their reasoning (DeepSeek, Qwen, GLM, Kimi, …) are not silent.
func Silent(vendor, model string) bool {
	if v, _ := Profile(vendor); slices.Contains(streamers, v.Name) {
		return false
	}
	if strings.Contains(model, "non-reasoning") {
		return false
	}
	for _, s := range silentModels {
		if hasPrefix(model, s.prefixes) && !hasPrefix(model, s.except) {
			return true
		}
	}
	return false
}
