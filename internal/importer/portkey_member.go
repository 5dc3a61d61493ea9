package importer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"backstop/internal/config/tree"
)

// single translates one upstream of a config.
func (k *portkey) single(where string, n *tree.Node, s scope) []tierDraft {
	k.leftOut(where, n, memberReasons)
	o, ok := k.originFor(where, n)
	if !ok {
		return nil
	}
	u := upstreamDraft{wish: cmp.Or(text(n.Get("name")), o.names[0]), dialect: o.dialect, vendor: o.vendor, knobs: s.knobs}
	t := tierDraft{}
	host := n.Get("custom_host")
	switch {
	case host != nil:
		ok = k.settle(&u, &o, text(host), where+".custom_host", host)
	case o.vendor == "azure-openai":
		ok = k.azure(&u, &t, &o, where, n)
	case o.vendor == "vertex":
		ok = k.vertex(&u, where, n)
	case o.vendor == "bedrock":
		ok = k.bedrock(&u, where, n)
	default:
		if o.vendor == "moonshot" { // LiteLLM's is the one for the rest of the world
			o.baseURL = mainland[o.baseURL]
		}
		ok = k.settle(&u, &o, "", where, n)
	}
	if !ok {
		return nil
	}
	k.params(&u, &t, where, s.params)
	if !k.fits(&u, t.model, where, n) {
		return nil
	}
	k.key(&u, &o, where, n)
	k.headers(&u, where+".custom_headers", n.Get("custom_headers"))
	if org := text(n.Get("openai_organization")); org != "" {
		put(&u.headers, pair{"OpenAI-Organization", k.vault.plain(org)})
	}
	t.upstream = k.upstream(u)
	return []tierDraft{t}
}

// originFor finds the vendor: named, or part of the name of a stored key.
func (k *portkey) originFor(where string, n *tree.Node) (origin, bool) {
	name := text(n.Get("provider"))
	if slug, stored := strings.CutPrefix(name, "@"); stored {
		name = ""
		if o, ok := originWithin(slug); ok {
			k.add(Changed, where+".provider", n.Get("provider"), "the vendor was guessed from the name %s: %s", shown(slug), o.names[0])
			return o, true
		}
	}
	if o, ok := originOf(name); ok {
		return o, true
	}
	if name != "" {
		if host := n.Get("custom_host"); host != nil {
			k.add(Changed, where+".provider", n.Get("provider"), "%s is not known here: it is called in the OpenAI dialect at its custom_host", shown(name))
			o, _ := originOf("openai")
			return o, true
		}
		k.add(Dropped, where+".provider", n.Get("provider"), "%s has no dialect that is spoken here", shown(name))
		return origin{}, false
	}
	if slug := text(n.Get("virtual_key")); slug != "" {
		if o, ok := originWithin(slug); ok {
			k.add(Changed, where+".virtual_key", n.Get("virtual_key"), "the vendor was guessed from its name: %s", o.names[0])
			return o, true
		}
		k.add(Dropped, where+".virtual_key", n.Get("virtual_key"), "the file does not say which vendor is behind it: add an upstream by hand")
		return origin{}, false
	}
	k.add(Dropped, where, n, "no provider is named")
	return origin{}, false
}

// key finds the credential. A stored one is not in the file at all.
func (k *portkey) key(u *upstreamDraft, o *origin, where string, n *tree.Node) {
	usual := o.env
	if usual == "" || n.Get("custom_host") != nil { // another place than the vendor's own
		usual = upper(u.wish, "API_KEY")
	}
	given := text(n.Get("api_key"))
	stored := cmp.Or(text(n.Get("virtual_key")), strings.TrimPrefix(text(n.Get("provider")), "@"))
	switch {
	case given != "":
		ref, literal := k.vault.credential(given, usual)
		if literal {
			k.add(Secret, where+".api_key", n.Get("api_key"), "the key stood in the file: it is %s now; set that variable, and make a new key if others could read the file", ref)
		}
		u.keys = []string{ref}
	case n.Get("virtual_key") != nil || strings.HasPrefix(text(n.Get("provider")), "@"):
		// Two stored keys of one vendor are two keys.
		ref, _ := k.vault.credential("stored key "+stored, usual)
		k.add(Changed, where, n, "its key is stored at Portkey: put it into %s", ref)
		u.keys = []string{ref}
	case o.env != "" && !u.private:
		u.keys = []string{k.vault.usual(o.env)}
	}
}

// params are forced on every request, the innermost last; the model is the
// tier's.
func (k *portkey) params(u *upstreamDraft, t *tierDraft, where string, list []*tree.Node) {
	var all []tree.Pair
	for _, n := range list {
		for _, p := range n.Pairs {
			if p.Key.Text == "model" {
				t.model = text(p.Value)
				continue
			}
			all = slices.DeleteFunc(all, func(q tree.Pair) bool { return q.Key.Text == p.Key.Text })
			all = append(all, p)
		}
	}
	k.forced(u, where+".override_params", &tree.Node{Kind: tree.Mapping, Pairs: all})
}

// limits reads second tries, times and the breaker of a part.
func (k *portkey) limits(b *knobs, where string, n *tree.Node) {
	if d, ok := in(n.Get("request_timeout"), time.Millisecond); ok {
		b.total = d
		k.add(Changed, where+".request_timeout", n.Get("request_timeout"), "it bounds the whole answer; the time to the first token is timeouts.first_token, 4500ms unless you say more")
	}
	if r := n.Get("retry"); r != nil {
		if a, ok := whole(r.Get("attempts")); ok {
			b.retries = k.bound(where+".retry.attempts", r, a)
		}
		if r.Get("on_status_codes") != nil {
			k.add(Changed, where+".retry.on_status_codes", r, "only resets and 5xx before the first token are tried again at the same upstream; a 429 goes to the next key or tier at once")
		}
		if truth(r.Get("use_retry_after_header")) || truth(r.Get("use_retry_after_headers")) {
			k.add(Changed, where+".retry.use_retry_after_header", r, "a key is left alone as long as its upstream says, and its calls go elsewhere; retry.wait sits short times out")
		}
	}
	if c := n.Get("strategy").Get("cb_config"); c != nil {
		if f, ok := whole(c.Get("failure_threshold")); ok && f > 0 {
			b.failures = min(f, 1000)
		}
		if d, ok := in(c.Get("cooldown_interval"), time.Millisecond); ok {
			b.reset = min(d, 24*time.Hour)
		}
		k.add(Changed, where+".strategy.cb_config", c, "it became breaker.failures and breaker.reset; background probes bring an upstream back earlier")
	}
	if where != "config" && n.Get("cache") != nil {
		k.cached(where, n)
	}
}

// cached turns a response cache into the stale cache, which is another thing.
func (k *portkey) cached(where string, n *tree.Node) {
	c := n.Get("cache")
	if c == nil || c.Kind == tree.Null || text(c) == "false" {
		return
	}
	age := 24 * time.Hour
	if d, ok := in(c.Get("max_age"), time.Second); ok {
		age = d
	}
	k.cache = max(k.cache, age)
	mode := cmp.Or(text(c.Get("mode")), text(c))
	why := "answers are kept in memory and served only when no upstream answers, never to save a call"
	if mode == "semantic" {
		why += "; only the same request gets them, not a similar one"
	}
	k.add(Changed, where+".cache", c, "%s; age %s", why, span(age))
}

// azure builds the address of a resource.
func (k *portkey) azure(u *upstreamDraft, t *tierDraft, o *origin, where string, n *tree.Node) bool {
	at := n
	if inner := n.Get("azure_config"); inner != nil {
		at = inner
	}
	find := func(list ...string) string {
		for _, name := range list {
			if v := text(at.Get(name)); v != "" {
				return k.vault.plain(v)
			}
		}
		return ""
	}
	resource := find("azure_resource_name", "resource_name")
	t.model = find("azure_deployment_id", "deployment_id")
	if resource == "" {
		resource = k.vault.need("AZURE_RESOURCE_NAME")
		k.add(Changed, where, n, "the resource is stored at Portkey: put its name into AZURE_RESOURCE_NAME")
	}
	u.baseURL = "https://" + resource + ".openai.azure.com" + o.below
	return true
}

// vertex builds the OpenAI-compatible address.
func (k *portkey) vertex(u *upstreamDraft, where string, n *tree.Node) bool {
	project, place := text(n.Get("vertex_project_id")), text(n.Get("vertex_region"))
	if project == "" || place == "" {
		k.add(Dropped, where, n, "Vertex needs vertex_project_id and vertex_region here")
		return false
	}
	project, place = k.vault.plain(project), k.vault.plain(place)
	u.baseURL = "https://" + place + "-aiplatform.googleapis.com/v1/projects/" + project + "/locations/" + place + "/endpoints/openapi"
	k.add(Changed, where, n, "the key must be an access token; those live for an hour: keep one in a file and write key: \"${file:PATH}\"; models are called google/NAME")
	return true
}

// bedrock builds the OpenAI-compatible address.
func (k *portkey) bedrock(u *upstreamDraft, where string, n *tree.Node) bool {
	region := text(n.Get("aws_region"))
	if region == "" {
		k.add(Dropped, where, n, "Bedrock needs aws_region here")
		return false
	}
	u.baseURL = "https://bedrock-runtime." + k.vault.plain(region) + ".amazonaws.com/openai/v1"
	k.add(Changed, where, n, "Bedrock is called at its OpenAI-compatible address with a Bedrock API key; it offers fewer models than the native one")
	return true
}

// leftOut reports what has no counterpart.
func (k *portkey) leftOut(where string, n *tree.Node, reasons map[string]string) {
	for _, p := range n.Pairs {
		why, ok := reasons[p.Key.Text]
		switch {
		case ok && why == "":
		case ok:
			k.add(Dropped, where+"."+p.Key.Text, p.Key, "%s", why)
		default:
			k.add(Dropped, where+"."+p.Key.Text, p.Key, "this importer does not know the key")
		}
	}
}

// shared are the keys that groups and single upstreams have in common.
var shared = map[string]string{
	"strategy": "", "targets": "", "retry": "", "request_timeout": "", "override_params": "", "cache": "", "name": "", "id": "", "version": "",
	"weight": "", "on_status_codes": "", "strict_open_ai_compliance": "", "index": "", "original_index": "", "last_used_option_index": "",
	"input_guardrails": noGuards, "output_guardrails": noGuards, "before_request_hooks": noGuards, "after_request_hooks": noGuards, "default_input_guardrails": noGuards, "default_output_guardrails": noGuards,
	"input_mutators": noGuards, "output_mutators": noGuards,
	"forward_headers": "only five headers of callers are passed on", "metadata": "callers are known by their keys", "trace_id": "", "cache_force_refresh": "", "debug": "", "prompt_id": "prompts are the application's",
}

var (
	groupReasons  = withShared(map[string]string{"provider": "", "api_key": "", "virtual_key": ""})
	memberReasons = withShared(map[string]string{
		"provider": "", "api_key": "", "virtual_key": "", "custom_host": "", "custom_headers": "", "openai_organization": "", "openai_project": "write headers: {OpenAI-Project: …}",
		"azure_resource_name": "", "resource_name": "", "azure_deployment_id": "", "deployment_id": "", "azure_config": "", "azure_model_name": "", "vertex_project_id": "", "vertex_region": "", "aws_region": "",
		"azure_api_version": "the address with /openai/v1 needs none", "api_version": "the address with /openai/v1 needs none", "azure_auth_mode": cloudLogin, "azure_ad_token": cloudLogin, "azure_entra_client_id": cloudLogin, "azure_entra_client_secret": cloudLogin, "azure_entra_tenant_id": cloudLogin, "azure_managed_client_id": cloudLogin,
		"vertex_service_account_json": cloudLogin, "aws_access_key_id": cloudLogin, "aws_secret_access_key": cloudLogin, "aws_session_token": cloudLogin, "aws_auth_type": cloudLogin, "aws_role_arn": cloudLogin, "aws_external_id": cloudLogin,
		"anthropic_beta": "callers' anthropic-beta is passed on; for every request write headers: {anthropic-beta: …}", "anthropic_version": "",
		"adaptive_timeout": "breakers and hang detection learn from the first tokens seen",
	})
)

func withShared(own map[string]string) map[string]string {
	for name, why := range shared {
		if _, ok := own[name]; !ok {
			own[name] = why
		}
	}
	return own
}
