package importer

import (
	"strings"
	"time"

	"backstop/internal/config/tree"
	"backstop/wire"
)

// pairs are the keys of a mapping, none of anything else.
func pairs(n *tree.Node) []tree.Pair {
	if n == nil {
		return nil
	}
	return n.Pairs
}

// member translates litellm_params.
func (l *liteLLM) member(group, where string, params *tree.Node) (member, bool) {
	m := member{order: unordered}
	if n, ok := whole(params.Get("order")); ok {
		m.order = n
	}
	full := text(params.Get("model"))
	o, model, ok := l.originFor(where, full, params)
	if !ok {
		return m, false
	}
	u := upstreamDraft{wish: o.names[0], dialect: o.dialect, vendor: o.vendor}
	base := params.Get("api_base")
	if base == nil {
		base = params.Get("base_url")
	}
	switch o.vendor {
	case "vertex":
		model, ok = l.vertex(&u, where, model, params)
	case "bedrock":
		ok = l.bedrock(&u, where, params)
	default:
		ok = l.settle(&u, &o, text(base), where+".api_base", base)
	}
	if !ok {
		return m, false
	}
	if m.tier.model, m.owns, ok = l.named(group, model, where, o.vendor, params); !ok || !l.fits(&u, m.tier.model, where, params) {
		return m, false
	}
	l.key(&u, &o, where, params)
	l.limits(&u.knobs, where, params)
	l.decorate(&u, where, params)
	for _, p := range params.Pairs {
		l.unknown(where+"."+p.Key.Text, p.Key, paramReasons)
	}
	m.tier.upstream = l.upstream(u)
	return m, true
}

// originFor splits a model name into where it lives and how it is called there.
func (l *liteLLM) originFor(where, full string, params *tree.Node) (o origin, model string, ok bool) {
	if full == "" {
		l.add(Dropped, where, params, "litellm_params has no model")
		return o, "", false
	}
	if name := text(params.Get("custom_llm_provider")); name != "" {
		if o, ok = originOf(name); ok {
			return o, strings.TrimPrefix(full, name+"/"), true
		}
		l.add(Dropped, where, params, "%s has no dialect that is spoken here", shown(name))
		return o, "", false
	}
	prefix, rest, cut := strings.Cut(full, "/")
	if cut {
		if o, ok = originOf(prefix); ok {
			return o, rest, true
		}
	}
	if o, ok = originOfModel(full); ok && !cut {
		return o, full, true
	}
	switch {
	case full == "*":
		o, _ = originOf("openai")
		l.add(Changed, where, params, "LiteLLM finds the vendor of any name by itself; here every name goes to OpenAI")
		return o, full, true
	case params.Get("api_base") != nil && !cut:
		o, _ = originOf("openai")
		return o, full, true
	case cut:
		l.add(Dropped, where, params, "%s has no dialect that is spoken here; many vendors have an OpenAI-compatible address too: name it as openai/MODEL with api_base", shown(prefix))
	default:
		l.add(Dropped, where, params, "the vendor of %s cannot be told from its name", shown(full))
	}
	return o, "", false
}

// named finds what the tier sends, and which patterns stand for a wildcard.
func (l *liteLLM) named(group, model, where, vendor string, params *tree.Node) (sent string, owns []string, ok bool) {
	stars := strings.Contains(group, "*")
	switch {
	case !strings.Contains(model, "*"):
		return model, nil, true
	case !stars:
		l.add(Dropped, where, params, "the model is a pattern, but model_name is none")
		return "", nil, false
	case group == model || group == "*":
		return "", nil, true
	}
	p, known := wire.Profile(vendor)
	if vendor == "" {
		p, known = wire.Profile("openai")
	}
	prefix, _, _ := strings.Cut(group, "*")
	if model != "*" || !strings.HasSuffix(prefix, "/") || !known || len(p.Owns) == 0 {
		l.add(Dropped, where, params, "a pattern with a prefix cannot be taken off the name here: write a route for each model")
		return "", nil, false
	}
	for _, own := range p.Owns {
		owns = append(owns, own+"*")
	}
	l.add(Changed, where, params, "callers ask without the prefix %s now: routes for %s", shown(prefix), strings.Join(owns, ", "))
	return "", owns, true
}

// key finds the credential: that of the file, or the variable that LiteLLM
// looks into by itself.
func (l *liteLLM) key(u *upstreamDraft, o *origin, where string, params *tree.Node) {
	given := text(params.Get("api_key"))
	usual := o.env
	if usual == "" || u.wish != o.names[0] { // another place than the vendor's own
		usual = upper(u.wish, "API_KEY")
	}
	switch {
	case given != "":
		ref, literal := l.vault.credential(given, usual)
		if literal {
			l.add(Secret, where+".api_key", params.Get("api_key"), "the key stood in the file: it is %s now; set that variable, and make a new key if others could read the file", ref)
		}
		u.keys = []string{ref}
	case o.env != "" && !u.private:
		u.keys = []string{l.vault.usual(o.env)}
	}
}

// limits reads times, second tries and limits; they stand below litellm_params,
// router_settings and litellm_settings alike.
func (l *liteLLM) limits(k *knobs, where string, at *tree.Node) {
	for _, name := range []string{"request_timeout", "timeout"} {
		if d, ok := in(at.Get(name), time.Second); ok {
			k.total = d
		}
	}
	if d, ok := in(at.Get("stream_timeout"), time.Second); ok {
		k.firstToken = d
	}
	for _, name := range []string{"num_retries", "max_retries"} {
		if n, ok := whole(at.Get(name)); ok {
			k.retries = l.bound(where+"."+name, at.Get(name), n)
		}
	}
	if n, ok := whole(at.Get("allowed_fails")); ok {
		k.failures = min(n+1, 1000)
		l.add(Changed, where+".allowed_fails", at.Get("allowed_fails"), "breaker.failures is %d: failures in a row, not in a minute, and 429 counts for none of them", k.failures)
	}
	if d, ok := in(at.Get("cooldown_time"), time.Second); ok {
		k.reset = min(d, 24*time.Hour)
	}
	if v, ok := number(at.Get("rpm")); ok && v > 0 {
		k.perMinute = v
	}
	if n, ok := whole(at.Get("max_parallel_requests")); ok && n > 0 {
		k.inflight = n
	}
}

// decorate reads headers and forced parameters.
func (l *liteLLM) decorate(u *upstreamDraft, where string, params *tree.Node) {
	for _, name := range []string{"extra_headers", "headers"} {
		l.headers(u, where+"."+name, params.Get(name))
	}
	if org := text(params.Get("organization")); org != "" {
		put(&u.headers, pair{"OpenAI-Organization", l.vault.plain(org)})
	}
	l.forced(u, where+".extra_body", params.Get("extra_body"))
	if list := params.Get("additional_drop_params"); list != nil {
		for _, item := range list.Items {
			if name := text(item); name != "" && len(u.drops) < maxListed && !strings.ContainsAny(name, ".[") {
				u.drops = append(u.drops, name)
			}
		}
	}
	if u.vendor == "azure-openai" && params.Get("api_version") != nil {
		l.add(Changed, where+".api_version", params.Get("api_version"), "the address with /openai/v1 needs none; for an older one write query: {api-version: …}")
	}
}

// vertex is reached at its OpenAI-compatible address.
func (l *liteLLM) vertex(u *upstreamDraft, where, model string, params *tree.Node) (string, bool) {
	project, place := text(params.Get("vertex_project")), text(params.Get("vertex_location"))
	if project == "" || place == "" {
		l.add(Dropped, where, params, "Vertex needs vertex_project and vertex_location here")
		return "", false
	}
	if !strings.HasPrefix(model, "gemini") {
		l.add(Dropped, where, params, "only Gemini models are behind the OpenAI-compatible address of Vertex")
		return "", false
	}
	project, place = l.vault.plain(project), l.vault.plain(place)
	u.baseURL = "https://" + place + "-aiplatform.googleapis.com/v1/projects/" + project + "/locations/" + place + "/endpoints/openapi"
	l.add(Changed, where, params, "VERTEX_ACCESS_TOKEN must hold an access token; those live for an hour: keep one in a file and write key: \"${file:PATH}\"")
	return "google/" + model, true
}

// bedrock is reached at its OpenAI-compatible address.
func (l *liteLLM) bedrock(u *upstreamDraft, where string, params *tree.Node) bool {
	region := text(params.Get("aws_region_name"))
	if region == "" {
		l.add(Dropped, where, params, "Bedrock needs aws_region_name here")
		return false
	}
	u.baseURL = "https://bedrock-runtime." + l.vault.plain(region) + ".amazonaws.com/openai/v1"
	l.add(Changed, where, params, "Bedrock is called at its OpenAI-compatible address with a Bedrock API key; it offers fewer models than the native one")
	return true
}
