package sse_test

import (
	"fmt"
	"strings"

	"backstop/sse"
)

func ExampleReader() {
	stream := ": ping\n\nevent: delta\ndata: Hello\n\ndata: cut of"
	r := sse.NewReader(strings.NewReader(stream), 0)
	for {
		ev, err := r.Next()
		if ev != nil {
			fmt.Printf("%q comment=%v name=%q data=%q\n", ev.Raw, ev.Comment, ev.Name, ev.Data)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// ": ping\n\n" comment=true name="" data=""
	// "event: delta\ndata: Hello\n\n" comment=false name="delta" data="Hello"
	// "data: cut of" comment=false name="" data="cut of"
	// sse: stream ended inside an event
}

func ExampleAppend() {
	fmt.Printf("%s", sse.Append(nil, "error", []byte("first line\nsecond line")))
	// Output:
	// event: error
	// data: first line
	// data: second line
}
