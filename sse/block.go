package sse

import "bytes"

var byteOrderMark = []byte("\xEF\xBB\xBF")

// block is what the lines of the current event have said so far. Data of one
// line, which is all that most streams have, is only a place in the buffer.
type block struct {
	fields bool // some line was not a comment
	lines  int  // data lines
	first  int  // where the first data value begins in the buffer …
	length int  // … and its length
	name   string
}

// note reads one line of the current event; at is its place in the buffer.
func (r *Reader) note(line []byte, at int) {
	if !r.begun {
		r.begun = true
		if bytes.HasPrefix(line, byteOrderMark) {
			line, at = line[len(byteOrderMark):], at+len(byteOrderMark)
		}
	}
	field, value := split(line)
	if len(line) > 0 && line[0] != ':' {
		r.block.fields = true
	}
	switch string(field) {
	case "data":
		if r.block.lines == 0 {
			r.block.first, r.block.length = at+len(line)-len(value), len(value)
		}
		r.block.lines++
	case "event":
		r.block.name = r.intern(value)
	}
}

// split cuts a line at its first colon and takes one space off the value.
func split(line []byte) (field, value []byte) {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return line, line[len(line):]
	}
	field, value = line[:i], line[i+1:]
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return field, value
}

// intern returns a name as a string. A stream repeats a few short names, so
// the last one of each slot is kept and costs nothing again.
func (r *Reader) intern(name []byte) string {
	if len(name) == 0 || len(name) > 64 {
		return string(name)
	}
	if r.names == nil {
		r.names = new([16]string) // most streams name no event
	}
	slot := &r.names[(len(name)+int(name[len(name)-1])+int(name[len(name)/2]))%len(r.names)]
	if *slot != string(name) {
		*slot = string(name)
	}
	return *slot
}

// fillEvent makes the event from its bytes and what was noted of its lines.
func (r *Reader) fillEvent(raw []byte) {
	b := &r.block
	r.event = Event{Raw: raw, Name: b.name, Comment: b.lines == 0}
	switch {
	case b.lines == 1:
		from := b.first - r.start
		r.event.Data = raw[from : from+b.length : from+b.length]
	case b.lines > 1:
		r.join(raw)
		r.event.Data = r.joined[:len(r.joined):len(r.joined)]
	}
}

// join collects the values of all data lines of an event.
func (r *Reader) join(raw []byte) {
	if need := len(raw); cap(r.joined) < need {
		r.joined = make([]byte, 0, need)
	}
	r.joined = r.joined[:0]
	rest, lines := raw[r.block.first-r.start+r.block.length:], 1
	r.joined = append(r.joined, raw[r.block.first-r.start:][:r.block.length]...)
	for lines < r.block.lines {
		stop := bytes.IndexAny(rest, "\r\n")
		line := rest
		if stop >= 0 {
			line = rest[:stop]
			rest = rest[stop+1:]
		} else {
			rest = nil
		}
		if field, value := split(line); string(field) == "data" {
			r.joined = append(r.joined, '\n')
			r.joined = append(r.joined, value...)
			lines++
		}
	}
}
