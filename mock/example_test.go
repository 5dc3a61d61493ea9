package mock_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"backstop/mock"
)

func Example() {
	m := mock.New(mock.Options{Tokens: 6})
	srv := httptest.NewServer(m)
	defer srv.Close()
	defer m.Close() // first: it frees what hangs

	ask := func(model string) {
		body := `{"model":"` + model + `","messages":[{"role":"user","content":"What time is it?"}]}`
		resp, err := http.Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			fmt.Println(model, "gave no answer")
			return
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		fmt.Println(model, resp.StatusCode, resp.Header.Get("Retry-After"), err)
	}
	ask("any-name")
	ask("429:retry-after=2")
	ask("cut@3")

	_ = m.SetFault("any-name", "reset") // from now on
	ask("any-name")
	// Output:
	// any-name 200  <nil>
	// 429:retry-after=2 429 2 <nil>
	// cut@3 200  unexpected EOF
	// any-name gave no answer
}

func ExampleParse() {
	_, err := mock.Parse("hnag")
	fmt.Println(err)
	// Output: mock: unknown fault "hnag": did you mean "hang"?
}
