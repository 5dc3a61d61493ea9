// Package cache keeps the last good answers of the stale cache in memory,
// bounded in bytes and in age. It is the store behind [local.Cache]; what may
// be stored, and under which key, is decided there.
package cache

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"

	"backstop/local"
)

// overhead is what an entry costs besides its text: the key, the entry and
// otter's node, measured and rounded up.
const overhead = 256

// Cache holds answers until they are too old or others need the room. It is
// safe for concurrent use and runs no goroutine, so there is nothing to close.
type Cache struct {
	entries *otter.Cache[local.Key, local.Entry]
	size    int64
	age     time.Duration
	now     func() time.Time
}

// New returns a cache of at most size bytes whose entries live for age. The
// clock says when an entry is too old; nil means time.Now.
func New(size int64, age time.Duration, clock func() time.Time) (*Cache, error) {
	if size <= 0 || age <= 0 {
		return nil, fmt.Errorf("cache of %d bytes and %s holds nothing; give a size and an age above zero, or leave the tier out", size, age)
	}
	if clock == nil {
		clock = time.Now
	}
	entries, err := otter.New(&otter.Options[local.Key, local.Entry]{
		MaximumWeight: uint64(size),
		Weigher:       weigh,
		// Evictions run on the goroutine that stores, so the bound holds when
		// Put returns. weigh, the only callback, never calls the cache.
		Executor: func(evict func()) { evict() },
	})
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return &Cache{entries: entries, size: size, age: age, now: clock}, nil
}

// Get returns the entry of a key unless it is too old. An entry that is too
// old is forgotten at once. The body belongs to the cache: read it only.
func (c *Cache) Get(key local.Key) (local.Entry, bool) {
	e, ok := c.entries.GetIfPresent(key)
	if !ok {
		return local.Entry{}, false
	}
	now := c.now()
	if now.Sub(e.Stored) <= c.age {
		return e, true
	}
	// By now there may be a younger one: it stays.
	c.entries.ComputeIfPresent(key, func(have local.Entry) (local.Entry, otter.ComputeOp) {
		if now.Sub(have.Stored) <= c.age {
			return have, otter.CancelOp
		}
		return have, otter.InvalidateOp
	})
	return local.Entry{}, false
}

// Put stores a copy of an entry. One that alone fills more than half of the
// cache would throw out everybody else's answer and is not stored.
func (c *Cache) Put(key local.Key, e local.Entry) {
	if cost(&e) > c.size/2 {
		c.entries.Invalidate(key)
		return
	}
	e.Body = append([]byte(nil), e.Body...)
	e.Model = strings.Clone(e.Model)
	c.entries.Set(key, e)
}

// Bytes is what the cache holds, overhead included.
func (c *Cache) Bytes() int64 {
	c.entries.CleanUp()
	return int64(c.entries.WeightedSize())
}

func cost(e *local.Entry) int64 { return int64(len(e.Body)) + int64(len(e.Model)) + overhead }

func weigh(_ local.Key, e local.Entry) uint32 {
	return uint32(min(cost(&e), math.MaxUint32))
}
