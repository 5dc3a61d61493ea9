package upstream

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"backstop"
	"backstop/secret"
)

func TestAPassageGoesBelowTheBaseWithOurCredential(t *testing.T) {
	var got *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r }))
	defer srv.Close()
	for name, c := range map[string]struct {
		dialect     backstop.Dialect
		base        string
		path, query string
		want        string // "" = refused
	}{
		"OpenAI":                          {backstop.OpenAI, "/v1", "/v1/files", "", "/v1/files?plan=1"},
		"OpenAI below another version":    {backstop.OpenAI, "/api/paas/v4", "/v1/files/a.b", "", "/api/paas/v4/files/a.b?plan=1"},
		"Anthropic without a version":     {backstop.Anthropic, "", "/v1/messages/batches", "limit=2", "/v1/messages/batches?limit=2&plan=1"},
		"Anthropic with one":              {backstop.Anthropic, "/v1", "/v1/messages/batches", "", "/v1/messages/batches?plan=1"},
		"Gemini":                          {backstop.Gemini, "", "/v1beta/files", "", "/v1beta/files?plan=1"},
		"Gemini with a version":           {backstop.Gemini, "/v1beta", "/v1beta/files", "", "/v1beta/files?plan=1"},
		"a credential in the query":       {backstop.OpenAI, "/v1", "/v1/files", "key=caller&a=b", "/v1/files?a=b&plan=1"},
		"a parameter of the plan":         {backstop.OpenAI, "/v1", "/v1/files", "plan=2", "/v1/files?plan=1"},
		"a query as it came":              {backstop.OpenAI, "/v1", "/v1/files", "include[]=b&include%5b%5D=a&after=x%20y+z&flag&&empty=", "/v1/files?include[]=b&include%5b%5D=a&after=x%20y+z&flag&empty=&plan=1"},
		"a credential in disguise":        {backstop.OpenAI, "/v1", "/v1/files", "%6bey=caller&Access_Token=caller&a=b", "/v1/files?a=b&plan=1"},
		"a parameter of the plan, again":  {backstop.OpenAI, "/v1", "/v1/files", "pl%61n=2&plan=3&a", "/v1/files?a&plan=1"},
		"a query with another separator":  {backstop.OpenAI, "/v1", "/v1/files", "a=b;key=caller", ""},
		"a query with a line end":         {backstop.OpenAI, "/v1", "/v1/files", "a=b\r\nHost: x", ""},
		"a query that ends early":         {backstop.OpenAI, "/v1", "/v1/files", "a=b#c", ""},
		"a name that is none":             {backstop.OpenAI, "/v1", "/v1/files", "%zz=a", ""},
		"a query that is none":            {backstop.OpenAI, "/v1", "/v1/files", "a=%zz", ""},
		"a path that leads up":            {backstop.OpenAI, "/v1", "/v1/../admin", "", ""},
		"a path with a hidden query":      {backstop.OpenAI, "/v1", "/v1/files?a=b", "", ""},
		"a path with an escaped slash":    {backstop.OpenAI, "/v1", "/v1/files/a%2Fb/content", "", "/v1/files/a%2Fb/content?plan=1"},
		"a path with an escaped URL":      {backstop.Gemini, "", "/v1beta/files/https%3A%2F%2Fx", "", "/v1beta/files/https%3A%2F%2Fx?plan=1"},
		"a path with other escapes":       {backstop.OpenAI, "/v1", "/v1/files/a%20b%E6%96%87%41", "", "/v1/files/a%20b%E6%96%87%41?plan=1"},
		"escapes in lower case":           {backstop.OpenAI, "/v1", "/v1/files/a%2fb", "", "/v1/files/a%2fb?plan=1"},
		"an escaped way up":               {backstop.OpenAI, "/v1", "/v1/a%2f..", "", ""},
		"an escaped way up in between":    {backstop.OpenAI, "/v1", "/v1/a%2F..%2Fb", "", ""},
		"escaped dots":                    {backstop.OpenAI, "/v1", "/v1/%2e%2e/admin", "", ""},
		"one escaped dot":                 {backstop.OpenAI, "/v1", "/v1/.%2E/admin", "", ""},
		"an escape of an escape":          {backstop.OpenAI, "/v1", "/v1/%252e%252e/admin", "", ""},
		"a way up for some":               {backstop.OpenAI, "/v1", "/v1/..%5Cadmin", "", ""},
		"parameters of a segment":         {backstop.OpenAI, "/v1", "/v1/..;a=b/admin", "", ""},
		"escaped parameters of a segment": {backstop.OpenAI, "/v1", "/v1/..%3Ba=b/admin", "", ""},
		"an escaped query":                {backstop.OpenAI, "/v1", "/v1/files%3Fa=b", "", ""},
		"an escaped fragment":             {backstop.OpenAI, "/v1", "/v1/files%23a", "", ""},
		"an escaped line end":             {backstop.OpenAI, "/v1", "/v1/files%0D%0AHost:%20x", "", ""},
		"an escape that is none":          {backstop.OpenAI, "/v1", "/v1/files%zz", "", ""},
		"an empty segment":                {backstop.OpenAI, "/v1", "/v1//files", "", ""},
		"a space":                         {backstop.OpenAI, "/v1", "/v1/files/a b", "", ""},
		"a letter that needs an escape":   {backstop.OpenAI, "/v1", "/v1/files/文", "", ""},
		"a version with an escaped slash": {backstop.OpenAI, "/v1", "/v1%2Ffiles", "", ""},
		"a path that is only the version": {backstop.OpenAI, "/v1", "/v1/", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := backstop.DefaultUpstream()
			u.Name, u.Dialect, u.BaseURL, u.AllowPrivate, u.Proxy = "x", c.dialect, srv.URL+c.base, true, "off"
			u.Keys, u.Query = []secret.Value{secret.New("key-of-the-plan")}, map[string]string{"plan": "1"}
			conn, err := New(&u, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			got = nil
			resp, err := conn.Pass(t.Context(), &Passage{Method: "POST", Path: c.path, Query: c.query, Key: 0, Length: 3, Body: strings.NewReader("abc"),
				Header: http.Header{"Content-Type": {"text/csv"}, "Authorization": {"Bearer caller"}, "Cookie": {"a=b"}}})
			if (err != nil) != (c.want == "") {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			_ = resp.Body.Close()
			if got.URL.RequestURI() != c.want || got.Header.Get("Authorization") != "Bearer key-of-the-plan" || got.Header.Get("Content-Type") != "text/csv" || got.Header.Get("Cookie") != "" || got.ContentLength != 3 {
				t.Errorf("%s with %v, want %s", got.URL, got.Header, c.want)
			}
		})
	}
	u := backstop.DefaultUpstream()
	u.Name, u.BaseURL, u.AllowPrivate, u.Proxy = "x", srv.URL+"/v1", true, "off"
	conn, err := New(&u, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	given := http.Header{"Transfer-Encoding": {"chunked"}, "Host": {"elsewhere"}, "Accept-Encoding": {"br"}, "X-Api-Key": {"caller"}}
	for _, name := range PassedOn {
		given.Set(name, "of-"+name)
	}
	resp, err := conn.Pass(t.Context(), &Passage{Method: "GET", Path: "/v1/files", Key: -1, Header: given})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	for _, name := range PassedOn {
		if got.Header.Get(name) != "of-"+name {
			t.Errorf("%s: %q", name, got.Header[name])
		}
	}
	if got.Header.Get("Accept-Encoding") != "identity" || got.Header.Get("X-Api-Key") != "" || got.Host == "elsewhere" {
		t.Errorf("headers of ours are %v", got.Header)
	}
	if _, err := conn.Pass(t.Context(), &Passage{Method: "TRACE", Path: "/v1/files", Key: -1}); err != ErrPassage {
		t.Errorf("TRACE: %v", err)
	}
}
