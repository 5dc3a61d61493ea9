package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// maxAsked bounds how many models of one upstream are asked for by name.
const maxAsked = 20

// names compares the models that routes ask for with the list. A list need not
// be whole: aliases, dated names and local models are often left out. So a
// model that is not there is asked for by its name before anything is said.
func (c *checkup) names(ctx context.Context, v *visit, a answer, key int) {
	path := v.path
	if path == keyPaths[c.up.Vendor] && v.status == http.StatusOK && path != "/models" {
		path = "/models"
		a = c.ask(ctx, path, key).read()
	}
	if !a.list || !a.complete || len(a.models) == 0 {
		return
	}
	asked := map[string]bool{} // name -> whether the upstream has it
	for i := range c.plan.Routes {
		for _, t := range c.plan.Routes[i].Tiers {
			if t.Upstream != c.Name || t.Model == "" || listed(a.models, t.Model) {
				continue
			}
			there, known := asked[t.Model]
			if !known && len(asked) < maxAsked {
				there = c.has(ctx, path, t.Model, key)
				asked[t.Model] = there
			}
			if there {
				continue
			}
			what := fmt.Sprintf("route %q asks for model %s, which is not in the list of this upstream", c.plan.Routes[i].Model, t.Model)
			seen := func(f Finding) bool { return f.What == what }
			if !slices.ContainsFunc(c.Findings, seen) {
				c.find(Warning, what, "the name is misspelled, retired, or an alias that is not listed", "compare it with GET "+c.shownPath(path))
			}
		}
	}
}

// has asks for one model by name, which costs as little as the list. Only an
// answer that describes a model is a yes; the name in it may be another, which
// the one asked for is an alias of.
func (c *checkup) has(ctx context.Context, path, model string, key int) bool {
	if strings.Contains(model, "?") { // it would begin a query
		return false
	}
	v := c.ask(ctx, path+"/"+model, key)
	var one struct {
		ID   string `json:"id"`   // OpenAI, Anthropic
		Name string `json:"name"` // Gemini
	}
	return v.err == nil && v.status == http.StatusOK && v.whole && json.Unmarshal(v.body, &one) == nil &&
		(one.ID != "" || strings.HasPrefix(one.Name, "models/"))
}

func listed(models []string, name string) bool {
	return slices.ContainsFunc(models, func(m string) bool {
		return strings.EqualFold(m, name) || strings.EqualFold(strings.TrimSuffix(m, ":latest"), name)
	})
}
