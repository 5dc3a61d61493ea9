package jsonfix

// output is the repaired text: a range of the input as long as nothing was
// changed, a buffer from the first edit on. Text that is left alone is copied
// in one piece at the next edit.
type output struct {
	src  []byte
	buf  []byte
	from int // src[from:] is not yet in buf
	used bool
	safe point
	low  int // the least length that buf was cut back to
	room int // most bytes to make room for at the first edit; 0 = any number

	begin int  // offset in src where the output begins
	open  bool // src will grow
}

// point is a moment to which the output can go back: everything before it is
// settled, so that what follows can still be dropped as a whole.
type point struct {
	at    int  // offset in src
	size  int  // len(buf)
	from  int  // output.from
	notes int  // length of the report
	fresh bool // the container has no member yet
}

// edit replaces src[i:j] by text.
func (o *output) edit(i, j int, text string) {
	o.flush(i)
	if len(o.buf)+len(text) > cap(o.buf) {
		o.grow(len(text))
	}
	o.buf = append(o.buf, text...)
	o.from = max(o.from, j)
}

// flush copies everything before i that is left as it was.
func (o *output) flush(i int) {
	if !o.used {
		o.used = true
		o.begin = o.from
		// The room that damage takes shows in the first few kilobytes of it.
		need := min(len(o.src)-o.from, max(0, i-o.from)+firstRoom)
		need += need/16 + 64
		if o.room > 0 {
			need = min(need, o.room)
		}
		if cap(o.buf) < need {
			o.buf = make([]byte, 0, need)
		}
	}
	if i > o.from {
		if len(o.buf)+i-o.from > cap(o.buf) {
			o.grow(0)
		}
		o.buf = append(o.buf, o.src[o.from:i]...)
		o.from = i
	}
}

// firstRoom is how much of the input behind the first damage is made room for
// before it is known how much longer the output becomes.
const firstRoom = 8 << 10

// grow makes room for n bytes more than the rest of src takes, if that grows
// as what was read of it did.
func (o *output) grow(n int) {
	rest := len(o.src) - o.from
	if read := o.from - o.begin; read > 0 && len(o.buf) > read {
		rest = int(float64(rest) * float64(len(o.buf)) / float64(read))
	}
	more := max(n+rest+rest/16+64, len(o.buf)/16)
	if o.open {
		more = max(more, len(o.buf)) // how much is to come is not known
	}
	o.buf = append(make([]byte, 0, len(o.buf)+more), o.buf...)
}

// settle makes everything before offset at the new safe point.
func (o *output) settle(at, notes int, fresh bool) {
	o.safe = point{at: at, size: len(o.buf), from: o.from, notes: notes, fresh: fresh}
}

// back drops what came behind the safe point; the output goes on with src[at:].
func (o *output) back(at int) {
	s := &o.safe
	if o.used && len(o.buf) > s.size {
		o.buf = o.buf[:s.size]
		o.low = min(o.low, s.size)
	}
	o.from = s.from
	o.flush(s.at)
	o.from = at
	s.size, s.from, s.at = len(o.buf), at, at
}

// taken is the output up to offset end of src; the slice is the input's own if
// nothing was changed.
func (o *output) taken(start, end int) []byte {
	if !o.used {
		return o.src[start:end:end]
	}
	o.flush(end)
	return o.buf
}
