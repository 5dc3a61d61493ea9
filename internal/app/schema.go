package app

import (
	"sync/atomic"
	"time"

	"backstop/internal/schema"
	"backstop/jsonfix"
)

// schemas compiles the JSON Schemas that calls promise their answers by. One
// that cannot be used is told in the log, at most once a minute and without a
// word of it: a schema is the caller's.
type schemas struct {
	cache *schema.Cache
	warn  func(msg string, args ...any)
	told  atomic.Int64 // Unix seconds of the last warning
}

const tellAgain = int64(time.Minute / time.Second)

func (s *schemas) compile(source []byte) (jsonfix.Schema, error) {
	c, err := s.cache.Compile(source)
	if err == nil {
		return c, nil
	}
	now, last := time.Now().Unix(), s.told.Load()
	if now-last >= tellAgain && s.told.CompareAndSwap(last, now) {
		s.warn("a JSON Schema of a call or route cannot be used: the answers are not validated, see x-backstop-unvalidated", "bytes", len(source))
	}
	return nil, err
}
