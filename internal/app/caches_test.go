package app

import (
	"testing"
	"time"

	"backstop"
	"backstop/local"
)

// A call may outlive its plan by a whole stream: what it then stores or asks for
// is kept where the plan in force has the same cache, and nowhere else.
func TestACallOfAnOldPlanMakesNoCache(t *testing.T) {
	route := func(model string, size int64) backstop.Route {
		return backstop.Route{Model: model, Tiers: []backstop.Tier{{Upstream: "one"}, {Local: &backstop.Local{Cache: &backstop.CacheSettings{Age: time.Hour, Size: size}}}}}
	}
	old := &backstop.Plan{Routes: []backstop.Route{route("same", 1<<20), route("smaller", 2<<20), route("gone", 1<<20), {Model: "never"}}}
	next := &backstop.Plan{Routes: []backstop.Route{route("same", 1<<20), route("smaller", 1<<20), {Model: "gone"}, {Model: "never"}}}
	var s cacheSet
	s.keep(old)
	same := s.of(&old.Routes[0])
	same.Put(local.Key{1}, local.Entry{Body: []byte("{}"), Stored: time.Now()})
	s.keep(next)
	for i, want := range []bool{true, false, false, false} {
		if got := s.of(&old.Routes[i]); (got != nil) != want {
			t.Errorf("%s: the old plan has a cache %v", old.Routes[i].Model, got != nil)
		}
	}
	if len(s.m) != 2 || s.of(&next.Routes[0]) != same || s.of(&next.Routes[1]) == nil || s.of(&next.Routes[2]) != nil {
		t.Errorf("%d caches are held", len(s.m))
	}
	if _, ok := s.of(&next.Routes[0]).Get(local.Key{1}); !ok {
		t.Error("the cache of a route that stayed the same is empty")
	}
}
