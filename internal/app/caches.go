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

// of is the cache of a route, nil if it has none.
func (s *cacheSet) of(r *backstop.Route) local.Cache {
	c := cacheTier(r)
	if c == nil {
		return nil
	}
	id := cacheID{r.Model, *c}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.m[id]; have != nil {
		return have
	}
	made, err := cache.New(c.Size, c.Age, nil)
	if err != nil { // the configuration was checked: a cache of nothing is none
		return nil
	}
	if s.m == nil {
		s.m = map[cacheID]*cache.Cache{}
	}
	s.m[id] = made
	return made
}

// keep forgets the caches that a plan has no use for.
func (s *cacheSet) keep(p *backstop.Plan) {
	used := map[cacheID]bool{}
	for i := range p.Routes {
		if c := cacheTier(&p.Routes[i]); c != nil {
			used[cacheID{p.Routes[i].Model, *c}] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.m {
		if !used[id] {
			delete(s.m, id)
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
