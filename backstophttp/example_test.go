package backstophttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"backstop"
	"backstop/backstophttp"
	"backstop/mock"
)

// An http.Client keeps getting answers although the primary is dead.
func ExampleNewPair() {
	primary := httptest.NewServer(http.NotFoundHandler())
	primary.Close() // nobody listens there any more
	healthy := mock.New(mock.Options{})
	backup := httptest.NewServer(healthy)
	defer backup.Close()

	transport, err := backstophttp.NewPair(
		backstop.Upstream{BaseURL: primary.URL + "/v1", AllowPrivate: true},
		backstop.Upstream{BaseURL: backup.URL + "/v1", AllowPrivate: true},
		backstophttp.Options{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = transport.Close(context.Background()) }()

	c := &http.Client{Transport: transport}
	resp, err := c.Post("https://api.openai.com/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"ok","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	fmt.Println(resp.StatusCode, resp.Header.Get("X-Backstop-Tier"))
	// Output: 200 backup
}
