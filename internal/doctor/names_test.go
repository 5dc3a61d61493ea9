package doctor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"backstop"
	"backstop/mock"
)

// asking is a plan whose one route asks an upstream for models.
func asking(url string, edit func(*backstop.Upstream), models ...string) *backstop.Plan {
	plan := planFor(url, edit)
	plan.Routes = []backstop.Route{{Model: "*"}}
	for _, m := range models {
		plan.Routes[0].Tiers = append(plan.Routes[0].Tiers, backstop.Tier{Upstream: "primary", Model: m})
	}
	return plan
}

func TestAModelThatIsNotListedIsAskedForByName(t *testing.T) {
	anthropic := func(u *backstop.Upstream) { u.Dialect, u.Vendor, u.Auth = backstop.Anthropic, "anthropic", "x-api-key" }
	gemini := func(u *backstop.Upstream) { u.Dialect, u.Vendor, u.Auth = backstop.Gemini, "gemini", "x-goog-api-key" }
	for name, c := range map[string]struct {
		base, path, list, one string
		status                int
		edit                  func(*backstop.Upstream)
		warned                bool
	}{
		"one that is there":          {"/v1", "/v1/models", list, `{"id":"gpt-alias","object":"model"}`, 200, nil, false},
		"an alias of another name":   {"", "/v1/models", `{"data":[{"id":"a","type":"model"}],"has_more":false}`, `{"type":"model","id":"gpt-alias-20260101"}`, 200, anthropic, false},
		"one of Gemini":              {"", "/v1beta/models", `{"models":[{"name":"models/a"}]}`, `{"name":"models/gpt-alias"}`, 200, gemini, false},
		"one that is not there":      {"/v1", "/v1/models", list, `{"error":{"message":"no such model"}}`, 404, nil, true},
		"a server that says 200":     {"/v1", "/v1/models", list, `{"status":"ok"}`, 200, nil, true},
		"the list under every path":  {"/v1", "/v1/models", list, list, 200, nil, true},
		"a page instead of a model":  {"/v1", "/v1/models", list, `<html>`, 200, nil, true},
		"a failure at the one model": {"/v1", "/v1/models", list, ``, 500, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, map[string]http.HandlerFunc{
				c.path: reply(200, "application/json", c.list), c.path + "/gpt-alias": reply(c.status, "application/json", c.one),
			})
			_, text := run(t, asking(url+c.base, c.edit, "gpt-alias", "gpt-alias"), Options{})
			if got := strings.Count(text, "asks for model gpt-alias"); got > 1 || (got == 1) != c.warned {
				t.Errorf("%d warnings:\n%s", got, text)
			}
		})
	}
}

func TestANameThatIsNoPathIsNotAskedFor(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{
		"/v1/models":  reply(200, "application/json", list),
		"/v1/models/": func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) },
	})
	_, text := run(t, asking(url+"/v1", nil, "../keys", "a?b=c", "a b"), Options{})
	says(t, text, "asks for model ../keys", "asks for model a?b=c", "asks for model a b")
}

func TestOnlySoManyModelsAreAskedFor(t *testing.T) {
	asked := 0
	url := serve(t, map[string]http.HandlerFunc{
		"/v1/models":  reply(200, "application/json", list),
		"/v1/models/": func(w http.ResponseWriter, r *http.Request) { asked++; http.NotFound(w, r) },
	})
	var models []string
	for i := range 3 * maxAsked {
		models = append(models, fmt.Sprint("m", i))
	}
	run(t, asking(url+"/v1", nil, models...), Options{})
	if asked != maxAsked {
		t.Errorf("asked %d times", asked)
	}
}

// The quick start has doctor look at two mocks, whose every name is a model.
func TestTheMockHasEveryModel(t *testing.T) {
	m := mock.New(mock.Options{})
	s := httptest.NewServer(m)
	t.Cleanup(func() { s.Close(); m.Close() })
	for base, edit := range map[string]func(*backstop.Upstream){
		"/v1": func(u *backstop.Upstream) { u.Keys = nil },
		"":    func(u *backstop.Upstream) { u.Keys, u.Dialect, u.Vendor = nil, backstop.Anthropic, "anthropic" },
		"/":   func(u *backstop.Upstream) { u.Keys, u.Dialect, u.Vendor = nil, backstop.Gemini, "gemini" },
	} {
		r, text := run(t, asking(s.URL+base, edit, "gpt-4o-mini", "503"), Options{})
		if !r.OK || strings.Contains(text, "warning") && !strings.Contains(text, "0 warnings") {
			t.Errorf("%s", text)
		}
	}
}
