package importer

import (
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"backstop/internal/config/tree"
	"backstop/wire"
)

var version = regexp.MustCompile(`/v[0-9]+(alpha|beta)?[0-9]*(/|$)`)

// endpoints are path ends that belong to a call, not to a base URL.
var endpoints = []string{"/chat/completions", "/completions", "/responses", "/embeddings", "/v1/messages", "/messages"}

// settle puts the address of the file into an upstream: what our dialects
// expect, without credentials, and with allow_private where it leads to this
// machine or network. It is false if there is no address to call.
func (d *draft) settle(u *upstreamDraft, o *origin, base, where string, at *tree.Node) bool {
	if base == "" {
		u.baseURL = o.baseURL
		if u.baseURL == "" {
			d.add(Dropped, where, at, "no address is given and there is none for everybody")
			return false
		}
		u.private = isPrivate(u.baseURL)
		if other := mainland[u.baseURL]; other != "" {
			d.add(Changed, where, at, "no address is given: it is %s, as there; a key of mainland China needs %s", u.baseURL, other)
		}
		return true
	}
	if name, ok := variable(base); ok {
		u.baseURL = d.vault.need(name) + o.below
		if !slices.Contains(d.vault.bases, name) {
			d.vault.bases = append(d.vault.bases, name)
		}
		d.add(Changed, where, at, "the address comes from %s: it must end without a slash%s; if it is private, add allow_private: true", name, suffixWords(o.below))
		return true
	}
	p, err := url.Parse(strings.TrimSpace(base))
	if err != nil || p.Host == "" || p.Scheme != "http" && p.Scheme != "https" || strings.Contains(base, "os.environ/") {
		d.add(Dropped, where, at, "the address is not an http or https URL")
		return false
	}
	if p.User != nil {
		d.add(Secret, where, at, "the address held a name or password: it was left out; send a credential as key")
	}
	d.nameByHost(u, p.Hostname())
	query := p.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch value := query.Get(name); {
		case slices.Contains(credentialQuery, strings.ToLower(name)) || !plainName(name):
			d.add(Secret, where, at, "the address held a credential in its query: send it as key")
		case name == "api-version" && !looksSecret(value):
			put(&u.query, pair{name, d.vault.plain(value)})
		default:
			ref, _ := d.vault.credential(value, upper(u.wish, name))
			put(&u.query, pair{name, ref})
			d.add(Secret, where, at, "the address held a query: the value is %s now", ref)
		}
	}
	path := strings.TrimRight(p.Path, "/")
	for _, end := range endpoints {
		path = strings.TrimSuffix(path, end)
	}
	if o.below == "/openai/v1" {
		path, _, _ = strings.Cut(path, "/openai")
		path += o.below
	} else if o.below != "" && !version.MatchString(path) {
		path += o.below
		d.add(Changed, where, at, "base_url got %s: the OpenAI dialect lives there; backstop doctor tells whether that holds", o.below)
	}
	if knownKeys.MatchString(path) {
		d.add(Secret, where, at, "the path of the address holds what looks like a key")
		return false
	}
	u.baseURL = p.Scheme + "://" + p.Host + path
	if u.private = isPrivate(u.baseURL); u.private {
		d.add(Changed, where, at, "the address is of this machine or network: allow_private: true was added")
	}
	return true
}

func suffixWords(below string) string {
	if below == "" {
		return ""
	}
	return ", and without " + below + ", which is added"
}

// isPrivate says whether an address needs allow_private: a private number, or
// a name that only a local network knows.
func isPrivate(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified()
	}
	if host == "localhost" || !strings.Contains(host, ".") {
		return host != ""
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan", ".svc", ".cluster.local", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// nameByHost calls an upstream of the OpenAI dialect by where it really is.
func (d *draft) nameByHost(u *upstreamDraft, host string) {
	if u.wish != "openai" {
		return
	}
	switch v := wire.VendorOf("https://" + host); v {
	case "openai":
	case "generic":
		label, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(host, "www."), "api."), ".")
		if _, err := netip.ParseAddr(host); err == nil || label == "" {
			label = "server"
		}
		u.wish = label
	default:
		u.wish = v
	}
}

// besideUs reports whether an address is where we would listen ourselves.
func besideUs(base string) bool {
	u, err := url.Parse(base)
	return err == nil && (u.Port() == "3000" || u.Port() == "3001") && isPrivate(base)
}

var goodBase = regexp.MustCompile(`^https?://[A-Za-z0-9._${}-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~:@+=,!$&'()*/{}-]*)?$|^https?://\[[0-9a-fA-F:.]+\](:[0-9]{1,5})?(/[A-Za-z0-9._~:@+=,!$&'()*/-]*)?$|^\$\{[A-Za-z0-9_]+\}[a-z0-9/]*$`)

// fits checks what no file of ours could hold.
func (d *draft) fits(u *upstreamDraft, model, where string, at *tree.Node) bool {
	p, err := url.Parse(u.baseURL)
	port := 1
	if err == nil && p.Port() != "" {
		port, _ = strconv.Atoi(p.Port())
	}
	bare := !strings.Contains(u.baseURL, "$")
	never := false
	if err == nil {
		ip, notIP := netip.ParseAddr(p.Hostname())
		ip = ip.Unmap()
		never = notIP == nil && (ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}))
	}
	switch {
	case !goodBase.MatchString(u.baseURL), bare && (err != nil || port < 1 || port > 65535), strings.Contains(u.baseURL, "/.."), strings.Contains(u.baseURL[min(len(u.baseURL), 8):], "//"):
		d.add(Dropped, where, at, "the address is not a plain http or https URL")
	case never:
		d.add(Dropped, where, at, "the address is link-local or multicast, which is never called")
	case !goodModel(model):
		d.add(Dropped, where, at, "the name of the model is too long or has a control character")
	case len(d.upstreams) >= maxUpstreams:
		d.full("upstreams", maxUpstreams)
	default:
		return true
	}
	return false
}

func goodModel(name string) bool {
	return len(name) <= 200 && !strings.ContainsFunc(name, func(c rune) bool {
		return c < ' ' || c >= 0x7f && c < 0xa0 || c == '\uFFFD' || c == '\u2028' || c == '\u2029' || c == '\uFEFF'
	})
}

// plainName reports whether a text can be the name of a parameter.
func plainName(name string) bool {
	return name != "" && goodModel(name) && !strings.Contains(name, "${")
}
