package importer

import (
	"slices"
	"strings"

	"backstop/internal/config/tree"
)

// maxListed bounds the headers and parameters of an upstream.
const maxListed = 100

// credentialHeaders carry keys: those come from key and auth alone.
var credentialHeaders = []string{"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}

// credentialQuery are the parameters of a URL that carry keys.
var credentialQuery = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}

// connectionHeaders are made anew for each request.
var connectionHeaders = []string{"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer",
	"expect", "accept-encoding", "content-encoding", "content-type", "proxy-connection"}

// put adds a pair unless the name is there already.
func put(list *[]pair, p pair) {
	same := func(q pair) bool { return strings.EqualFold(q.name, p.name) }
	if len(*list) < maxListed && !slices.ContainsFunc(*list, same) {
		*list = append(*list, p)
	}
}

// headers copies headers; what looks like a credential becomes a variable.
func (d *draft) headers(u *upstreamDraft, where string, at *tree.Node) {
	for _, p := range pairs(at) {
		name, value := p.Key.Text, text(p.Value)
		lower := strings.ToLower(name)
		_, isRef := variable(value)
		switch {
		case slices.Contains(credentialHeaders, lower):
			d.add(Secret, where+"."+name, p.Key, "a credential is sent as key, and auth says in which header: it was left out")
		case slices.Contains(connectionHeaders, lower):
			d.add(Dropped, where+"."+name, p.Key, "the header is made for each request")
		case value == "" || !headerName(name) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }):
			d.add(Dropped, where+"."+name, p.Key, "it is no header with one line of text")
		case !isRef && (secretName.MatchString(name) || looksSecret(value)):
			ref, _ := d.vault.credential(value, upper(u.wish, name))
			d.add(Secret, where+"."+name, p.Key, "the value stood in the file: it is %s now", ref)
			put(&u.headers, pair{name, ref})
		default:
			put(&u.headers, pair{name, d.vault.plain(value)})
		}
	}
}

func headerName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return name != "" && len(name) <= 100
}

// ownedByCall are parameters that no upstream setting may force.
var ownedByCall = map[string]bool{"model": true, "stream": true, "messages": true, "input": true, "prompt": true}

// forced copies parameters that every request to an upstream gets.
func (d *draft) forced(u *upstreamDraft, where string, at *tree.Node) {
	for _, p := range pairs(at) {
		switch {
		case !plainName(p.Key.Text):
			d.add(Dropped, where+"."+p.Key.Text, p.Key, "it is no name of a parameter")
		case ownedByCall[p.Key.Text]:
			d.add(Dropped, where+"."+p.Key.Text, p.Key, "it belongs to the call")
		case secretName.MatchString(p.Key.Text) && p.Key.Text != "max_tokens" && !strings.HasSuffix(p.Key.Text, "_tokens") || holdsSecret(p.Value):
			d.add(Secret, where+"."+p.Key.Text, p.Key, "it looks like a credential: it was left out")
		default:
			put(&u.params, pair{p.Key.Text, d.jsonOf(p.Value)})
		}
	}
	sortPairs(u.params)
}

func holdsSecret(n *tree.Node) (found bool) {
	n.Each(func(c *tree.Node) { found = found || looksSecret(c.Text) })
	return found
}
