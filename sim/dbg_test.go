package sim

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

func TestDbg(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("DBG"))
	if n == 0 {
		t.Skip()
	}
	plan, s := storm(uint64(n))
	fmt.Printf("%+v\n", s.Arrivals)
	fmt.Println(s.Duration, s.Replicas)
	for _, f := range s.Faults {
		fmt.Printf("%+v\n", f)
	}
	for _, u := range s.Upstreams {
		fmt.Printf("%+v\n", u)
	}
	for _, u := range plan.Upstreams {
		fmt.Printf("%s %+v %+v %+v %s keys %d\n", u.Name, u.Breaker, u.Limits, u.Timeouts, u.Unary, len(u.Keys))
	}
	r, err := Verify(plan, s)
	fmt.Println(err)
	if r != nil {
		r.WriteText(os.Stdout)
	}
}
