package cache

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"backstop/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func key(n int) (k local.Key) {
	copy(k[:], fmt.Sprint(n))
	return k
}

func open(t *testing.T, size int64, age time.Duration) (*Cache, *time.Time) {
	t.Helper()
	now := start
	c, err := New(size, age, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return c, &now
}

func TestAnEntryComesBackUntilItIsTooOld(t *testing.T) {
	c, now := open(t, 1<<20, time.Hour)
	c.Put(key(1), local.Entry{Body: []byte("answer"), Model: "m", Stored: start})
	*now = start.Add(time.Hour)
	e, ok := c.Get(key(1))
	if !ok || string(e.Body) != "answer" || e.Model != "m" || !e.Stored.Equal(start) {
		t.Fatalf("Get = %+v, %v", e, ok)
	}
	*now = start.Add(time.Hour + 1)
	if _, ok := c.Get(key(1)); ok {
		t.Error("an entry older than its age came back")
	}
	if c.Bytes() != 0 {
		t.Errorf("%d bytes are kept for nobody", c.Bytes())
	}
}

func TestAnAnswerThatComesWhileTheOldOneIsForgottenStays(t *testing.T) {
	var c *Cache
	put := func() {}
	c, err := New(1<<20, time.Hour, func() time.Time { put(); return start.Add(2 * time.Hour) })
	if err != nil {
		t.Fatal(err)
	}
	c.Put(key(1), local.Entry{Body: []byte("old"), Stored: start})
	put = func() {
		put = func() {}
		c.Put(key(1), local.Entry{Body: []byte("new"), Stored: start.Add(2 * time.Hour)})
	}
	if e, ok := c.Get(key(1)); ok {
		t.Errorf("got %q", e.Body)
	}
	if e, ok := c.Get(key(1)); !ok || string(e.Body) != "new" {
		t.Errorf("got %q, %v", e.Body, ok)
	}
}

func TestAnotherKeyNeverGetsTheEntry(t *testing.T) {
	c, _ := open(t, 1<<20, time.Hour)
	c.Put(key(1), local.Entry{Body: []byte("one"), Stored: start})
	if e, ok := c.Get(key(2)); ok {
		t.Errorf("key 2 got %q", e.Body)
	}
}

func TestTheCallersBufferIsNotKept(t *testing.T) {
	c, _ := open(t, 1<<20, time.Hour)
	body := []byte("good")
	c.Put(key(1), local.Entry{Body: body, Stored: start})
	copy(body, "evil")
	if e, _ := c.Get(key(1)); string(e.Body) != "good" {
		t.Errorf("stored body became %q", e.Body)
	}
}

func TestTheBoundHoldsAfterEveryPut(t *testing.T) {
	const size = 64 << 10
	c, _ := open(t, size, time.Hour)
	for i := range 2000 {
		c.Put(key(i), local.Entry{Body: bytes.Repeat([]byte("x"), i%3000), Stored: start})
		if got := c.Bytes(); got > size {
			t.Fatalf("after %d entries the cache holds %d bytes of %d", i+1, got, size)
		}
	}
	if c.Bytes() < size/2 {
		t.Errorf("the cache uses only %d of %d bytes", c.Bytes(), size)
	}
}

func TestAnEntryThatFillsTheCacheIsNotStored(t *testing.T) {
	c, _ := open(t, 10_000, time.Hour)
	c.Put(key(1), local.Entry{Body: []byte("small"), Stored: start})
	c.Put(key(2), local.Entry{Body: make([]byte, 9_000), Stored: start})
	if _, ok := c.Get(key(2)); ok {
		t.Error("the giant was stored")
	}
	if _, ok := c.Get(key(1)); !ok {
		t.Error("the giant threw out the small one")
	}
	c.Put(key(1), local.Entry{Body: make([]byte, 9_000), Stored: start})
	if _, ok := c.Get(key(1)); ok {
		t.Error("an outdated answer stayed although a newer one was given")
	}
}

func TestNoSizeOrAgeIsRefused(t *testing.T) {
	for _, c := range []struct {
		size int64
		age  time.Duration
	}{{0, time.Hour}, {-1, time.Hour}, {1, 0}, {1, -time.Second}} {
		if _, err := New(c.size, c.age, nil); err == nil {
			t.Errorf("New(%d, %s) gave no error", c.size, c.age)
		}
	}
}

func TestManyGoroutinesShareTheCache(t *testing.T) {
	c, _ := open(t, 32<<10, time.Hour)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				want := fmt.Sprint(i % 50)
				c.Put(key(i%50), local.Entry{Body: []byte(want), Stored: start})
				if e, ok := c.Get(key((i + g) % 50)); ok && string(e.Body) != fmt.Sprint((i+g)%50) {
					t.Errorf("key %d gave %q", (i+g)%50, e.Body)
				}
			}
		})
	}
	wg.Wait()
}
