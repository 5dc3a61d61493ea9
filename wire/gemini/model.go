package gemini

import (
	"net/url"
	"strings"

	"backstop"
	"backstop/wire"
)

// version stands in front of a path whose base URL names none.
const version = "/v1beta"

// maxModel bounds a model name, which goes into paths and logs.
const maxModel = 512

// qualified are the beginnings of names that say where a model lives; all
// others are below /models.
var qualified = []string{"models/", "tunedModels/", "publishers/", "projects/", "endpoints/"}

// pathAt is the path of a call below the base URL, which may name the version.
// It is false for a name that cannot stand in a path.
func pathAt(u *backstop.Upstream, name string, op wire.Op, stream bool) (string, bool) {
	place, ok := modelPlace(name)
	if !ok {
		return "", false
	}
	path := "/" + place
	if !versioned(u.BaseURL) {
		path = version + path
	}
	switch {
	case op == wire.CountTokens:
		return path + ":countTokens", true
	case stream:
		return path + ":streamGenerateContent?alt=sse", true
	}
	return path + ":generateContent", true
}

// modelPlace is a model's name in full, such as models/gemini-2.5-flash. A name
// consists of letters, digits and -._~@:=+, so that nothing in it can end the
// path, leave it or need escaping.
func modelPlace(name string) (string, bool) {
	if !hasPrefix(name, qualified) {
		name = "models/" + name
	}
	if len(name) > maxModel {
		return "", false
	}
	_, rest, _ := strings.Cut(name, "/")
	if n := strings.Count(rest, "/"); n > 0 && (strings.HasPrefix(name, "models/") || strings.HasPrefix(name, "tunedModels/")) {
		return "", false
	}
	for _, segment := range strings.Split(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", false
		}
		for i := 0; i < len(segment); i++ {
			switch c := segment[i]; {
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~@:=+,", c) >= 0:
			default:
				return "", false
			}
		}
	}
	return name, true
}

// versioned reports whether a base URL has a version such as v1beta in its
// path.
func versioned(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	for _, segment := range strings.Split(u.Path, "/") {
		if len(segment) > 1 && segment[0] == 'v' && '0' <= segment[1] && segment[1] <= '9' {
			return true
		}
	}
	return false
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// bare is a model's name without where it lives.
func bare(name string) string { return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]) }

// What models of the vendor can, by prefix. As of 2026-11; what is not listed
// is taken for a later model.
var (
	// first and second generation: no signatures are demanded, promised JSON and
	// tools exclude each other, thinking is a budget.
	early = []string{"gemini-1", "gemini-2", "gemini-pro", "gemini-exp", "gemma", "learnlm"}
	// unbudgeted among them do not think at all.
	unbudgeted = []string{"gemini-1", "gemini-2.0", "gemini-pro", "gemini-exp", "gemma", "learnlm"}
	// tireless ones cannot be told not to think.
	tireless = []string{"gemini-2.5-pro"}
	// twofold ones know the levels low and high only.
	twofold = []string{"gemini-3-pro"}
	// penalized ones take penalties.
	penalized = []string{"gemini-2.0"}
	// schemaless ones know no JSON Schema, but JSON.
	schemaless = []string{"gemini-1", "gemini-2.0", "gemini-pro", "gemini-exp", "gemma", "learnlm"}
)

// signs reports whether a model demands the signatures of its function calls.
func signs(name string) bool {
	name = bare(name)
	return strings.HasPrefix(name, "gemini-") && !hasPrefix(name, early)
}
