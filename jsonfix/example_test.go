package jsonfix_test

import (
	"fmt"

	"backstop/jsonfix"
)

func Example() {
	answer := "Sure, here it is:\n```json\n{'city': 'Hangzhou', \"temp\": 21.50, \"tags\": [\"a\", \"b\",]}\n```"
	r, err := jsonfix.Repair([]byte(answer), jsonfix.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", r.JSON)
	for _, x := range r.Repairs {
		fmt.Println(x.Code)
	}
	// Output:
	// {"city": "Hangzhou", "temp": 21.50, "tags": ["a", "b"]}
	// prose
	// fence
	// single-quote
	// trailing-comma
}

func ExampleRepair_truncated() {
	r, _ := jsonfix.Repair([]byte(`{"items":[{"id":1,"name":"pen"},{"id":2,"name":"note`), jsonfix.Options{})
	fmt.Printf("%s\ntruncated: %v, at %s\n", r.JSON, r.Truncated, r.TruncatedAt)
	// Output:
	// {"items":[{"id":1,"name":"pen"},{"id":2,"name":"note"}]}
	// truncated: true, at /items/1/name
}

func ExampleFixer() {
	f := jsonfix.NewFixer(jsonfix.Options{})
	for _, piece := range []string{"```json\n{\"a\": \"he", "llo\", \"b\": 1", "2}\n```"} {
		_, _ = f.Write([]byte(piece))
		body, closers := f.Snapshot()
		fmt.Printf("%s + %q\n", body, closers)
	}
	fmt.Printf("%s\n", f.Close().JSON)
	// Output:
	// {"a": "he + "\"}"
	// {"a": "hello" + "}"
	// {"a": "hello", "b": 12} + ""
	// {"a": "hello", "b": 12}
}
