package config

import (
	"strings"

	"backstop"
	"backstop/wire"
)

// vendorOf names the vendor profile of a base URL.
func vendorOf(baseURL string) string {
	if v := wire.VendorOf(baseURL); v != "" {
		return v
	}
	return "generic"
}

// authOf is the header that a vendor takes its key in: the profile's word for
// its own dialect, or what the dialect's SDK sends.
func authOf(vendor string, d backstop.Dialect) string {
	if p, ok := wire.Profile(vendor); ok && p.Dialect == d && p.Auth != "" {
		return p.Auth
	}
	switch d {
	case backstop.Anthropic:
		return "x-api-key"
	case backstop.Gemini:
		return "x-goog-api-key"
	}
	return "bearer"
}

// silentModel returns the model that a tier asks for if that model thinks
// without streaming its reasoning. A pattern is judged by its literal start.
func silentModel(vendor string, t *backstop.Tier, rt *backstop.Route) (string, bool) {
	model := t.Model
	if model == "" {
		model = rt.Model
		if !rt.Exact() {
			model = model[:strings.IndexAny(model, `*?[\`)]
		}
	}
	return model, model != "" && wire.Silent(vendor, model)
}
