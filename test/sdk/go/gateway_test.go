package sdk

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// gateway is one gateway and what its upstreams were asked. Each SDK has one:
// a file may name 200 upstreams, and together they have about 300.
type gateway struct {
	url   string
	asked *recorder
}

// gateways starts one for each SDK, by its name. They end with the test, and
// have to end well.
func gateways(t *testing.T) map[string]*gateway {
	t.Helper()
	all := map[string]*gateway{}
	for i := range sdks {
		all[sdks[i].name] = serve(t, &sdks[i])
	}
	return all
}

func serve(t *testing.T, s *sdk) *gateway {
	t.Helper()
	g := &gateway{asked: newRecorder(world.mocks)}
	between := httptest.NewServer(g.asked)
	t.Cleanup(between.Close)
	file := filepath.Join(t.TempDir(), "backstop.yaml")
	if err := os.WriteFile(file, configuration(between.URL, routes(s)), 0o600); err != nil {
		t.Fatal(err)
	}
	p, address, err := start(context.Background(), `"listen":"([^"]+)"`, world.binary, "serve", "-c", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.end(); err != nil {
			t.Errorf("the gateway of %s did not end well: %v\n%s", s.name, err, p.output())
		}
	})
	g.url = "http://" + address
	answer, err := http.Get(g.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the gateway is not ready: %s\n%s", answer.Status, p.output())
	}
	return g
}
