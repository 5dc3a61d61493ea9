package local_test

import (
	"fmt"

	"backstop/local"
)

func ExampleRenderJSON() {
	doc := []byte(`{"fallback":true,"note":"{{model}} is busy ({{reason}})"}`)
	fmt.Println(string(local.RenderJSON(doc, local.Values{Model: `a "model"`, Reason: "hang/first_token"})))
	// Output: {"fallback":true,"note":"a \"model\" is busy (hang/first_token)"}
}
