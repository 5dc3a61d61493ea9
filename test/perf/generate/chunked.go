package generate

import (
	"bytes"
	"strconv"
)

// chunked decodes a chunked body bit by bit.
type chunked struct {
	part chunkPart
	left int64  // bytes of the part
	size []byte // digits seen so far, or a line of the trailer
}

type chunkPart int

const (
	sizeLine chunkPart = iota
	chunkData
	dataEnd
	trailer
)

const longestLine = 4096

// feed decodes b and hands out the data in it. ended is true when the body is
// complete, ok false when it is no chunked body.
func (d *chunked) feed(b []byte, data func([]byte)) (ended, ok bool) {
	for len(b) > 0 {
		if d.part == chunkData || d.part == dataEnd {
			n := min(int64(len(b)), d.left)
			if d.part == chunkData {
				data(b[:n])
			}
			b = b[n:]
			if d.left -= n; d.left == 0 {
				d.part, d.left = d.after()
			}
			continue
		}
		line, rest, found := bytes.Cut(b, []byte("\n"))
		d.size = append(d.size, line...)
		if len(d.size) > longestLine {
			return false, false
		}
		if !found {
			return false, true
		}
		b = rest
		text := bytes.TrimSpace(d.size)
		d.size = d.size[:0]
		if d.part == trailer {
			if len(text) == 0 {
				d.part = sizeLine
				return true, true
			}
			continue
		}
		digits, _, _ := bytes.Cut(text, []byte(";"))
		n, err := strconv.ParseInt(string(digits), 16, 64)
		if err != nil || n < 0 {
			return false, false
		}
		if d.part, d.left = chunkData, n; n == 0 {
			d.part = trailer
		}
	}
	return false, true
}

func (d *chunked) after() (chunkPart, int64) {
	if d.part == chunkData {
		return dataEnd, 2
	}
	return sizeLine, 0
}
