package sse

import (
	"io"
	"reflect"
	"strings"
	"testing"
)

// held is what a reader keeps in memory.
func held(r *Reader) int {
	return int(reflect.TypeFor[Reader]().Size()) + cap(r.buf) + cap(r.joined)
}

// pause lets a test look at the reader each time it waits for bytes.
type pause struct {
	src  io.Reader
	look func()
}

func (p *pause) Read(b []byte) (int, error) {
	p.look()
	return p.src.Read(b)
}

func TestAReaderThatWaitsBetweenEventsKeepsLessThanFourKiB(t *testing.T) {
	big := "data: " + strings.Repeat("x", 1<<20) + "\n\n"
	lines := strings.Repeat("data: x\n", 50_000) + "\n"
	var sources []io.Reader
	for range 3 {
		sources = append(sources, strings.NewReader("data: x\n\n"), strings.NewReader(big), strings.NewReader(lines))
	}
	r := NewReader(nil, 0)
	most := 0
	r.src = &pause{io.MultiReader(sources...), func() {
		if r.start == r.end {
			most = max(most, held(r))
		}
	}}
	for n := 0; ; n++ {
		if _, err := r.Next(); err == io.EOF {
			if n != 9 {
				t.Fatalf("%d events, want 9", n)
			}
			break
		}
	}
	if most > 4<<10 {
		t.Fatalf("an idle reader keeps %d bytes", most)
	}
	t.Logf("an idle reader keeps %d bytes", most)
}

func TestABufferIsAtMostTwiceItsEvent(t *testing.T) {
	const size = 300_000
	r := NewReader(nil, 0)
	most := 0
	r.src = &pause{strings.NewReader("data: " + strings.Repeat("x", size) + "\n\n"), func() { most = max(most, cap(r.buf)) }}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if most > 2*size {
		t.Fatalf("the buffer grew to %d bytes for an event of %d", most, size)
	}
}

func TestABufferNeverExceedsTheLimit(t *testing.T) {
	for _, limit := range []int{1, 10, 5000, 70_000} {
		r := NewReader(strings.NewReader(strings.Repeat("x", 100_000)), limit)
		most := 0
		r.src = &pause{r.src, func() { most = max(most, cap(r.buf)) }}
		if _, err := r.Next(); err != ErrTooLarge {
			t.Fatalf("limit %d: %v", limit, err)
		}
		if most > max(limit+1, small) {
			t.Fatalf("limit %d: the buffer grew to %d bytes", limit, most)
		}
	}
}

// searched counts the steps of the reader in bytes moved and read.
func TestTheCostPerByteDoesNotGrowWithTheEvent(t *testing.T) {
	for _, stream := range []string{
		"data: " + strings.Repeat("x", 1<<20) + "\n\n",
		strings.Repeat("data: x\r", 1<<17) + "\r",
		strings.Repeat("data: x\n", 1<<17) + "\n",
		strings.Repeat(":\r\n", 1<<18) + "\r\n",
	} {
		r := NewReader(nil, 0)
		moved, last := 0, 0
		r.src = &pause{&dribble{stream}, func() {
			if cap(r.buf) != last {
				last = cap(r.buf)
				moved += r.end
			}
		}}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if moved > 3*len(stream) {
			t.Fatalf("%.10q…: %d bytes were moved for an event of %d", stream, moved, len(stream))
		}
	}
}

// dribble returns seven bytes at a time.
type dribble struct{ text string }

func (d *dribble) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), 7)], d.text)
	d.text = d.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestNamesAreKeptOnceAndOddOnesDoNotPileUp(t *testing.T) {
	var stream strings.Builder
	for range 1000 {
		stream.WriteString("event: response.output_text.delta\ndata: x\n\n")
	}
	r := NewReader(strings.NewReader(stream.String()), 0)
	read := func() {
		if ev, err := r.Next(); err != nil || ev.Name != "response.output_text.delta" {
			t.Fatal(ev, err)
		}
	}
	read()
	if allocs := testing.AllocsPerRun(500, read); allocs != 0 {
		t.Fatalf("%v allocations per event", allocs)
	}
}
