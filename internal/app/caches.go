package app

import (
	"sync"

	"backstop"
	"backstop/internal/cache"
	"backstop/local"
)

// cacheSet holds one cache a route that has a cache tier. A reload keeps the
// caches of routes whose cache settings did not change.
type cacheSet struct {
	mu sync.Mutex
	m  map[cacheID]*cache.Cache
}

type cacheID struct {
	route    string
	settings backstop.CacheSettings
}

// of is the cache of a route, nil if it has none. A call of a plan that was
// replaced may ask for one that is gone: it stays so, or it would hold its
// memory for nobody.
func (s *cacheSet) of(r *backstop.Route) local.Cache {
	c := cacheTier(r)
	if c == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.m[cacheID{r.Model, *c}]; have != nil {
		return have
	}
	return nil
}

// keep makes the caches of a plan, and forgets those that it has no use for.
// No call of the plan may have begun.
func (s *cacheSet) keep(p *backstop.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.m
	s.m = map[cacheID]*cache.Cache{}
	for i := range p.Routes {
		c := cacheTier(&p.Routes[i])
		if c == nil {
			continue
		}
		id := cacheID{p.Routes[i].Model, *c}
		if have := before[id]; have != nil {
			s.m[id] = have
		} else if made, err := cache.New(c.Size, c.Age, nil); err == nil { // the configuration was checked: a cache of nothing is none
			s.m[id] = made
		}
	}
}

func cacheTier(r *backstop.Route) *backstop.CacheSettings {
	for i := range r.Tiers {
		if l := r.Tiers[i].Local; l != nil && l.Cache != nil {
			return l.Cache
		}
	}
	return nil
}
