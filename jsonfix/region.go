package jsonfix

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// fence is the Markdown fence that the finder is in.
type fence struct {
	mark  byte
	width int
}

// fenceHere opens or closes a fence at f.at.
func (f *finder) fenceHere() bool {
	n := fenceAt(f.src, f.at)
	if n == 0 {
		return false
	}
	f.once(Fence, f.at)
	mark := f.src[f.at]
	f.at += n
	if f.fence.width > 0 {
		if mark == f.fence.mark && n >= f.fence.width {
			f.endRegion()
			f.region = f.outside
			f.fence = fence{}
		}
		return true
	}
	if f.region.seq.count > 0 && blankToEnd(f.src, f.at) {
		return true // the closer of a fence that was never opened
	}
	f.outside = f.region
	f.outside.prose = true
	f.outside.seq.array = nil
	f.fence = fence{mark, n}
	rank := f.tagHere()
	f.region = region{start: f.at, rank: rank}
	return true
}

// tagHere passes the language tag behind the opener of a fence and ranks it.
func (f *finder) tagHere() rank {
	var tag [12]byte
	n := 0
	for ; f.at < len(f.src); f.at++ {
		c := f.src[f.at]
		if !isDigit(c) && c|0x20-'a' > 25 && c != '+' && c != '-' {
			break
		}
		if n < len(tag) {
			tag[n] = c
			if c|0x20-'a' <= 25 {
				tag[n] = c | 0x20
			}
			n++
		}
	}
	return tagRank(string(tag[:n]))
}

func tagRank(tag string) rank {
	switch tag {
	case "json", "json5", "jsonc", "jsonl", "ndjson", "jsonlines", "geojson", "hjson":
		return rankTagged
	case "bash", "sh", "shell", "console", "zsh", "http", "curl", "xml", "html", "yaml", "yml", "toml", "diff", "sql", "css", "ini", "csv":
		return rankArray
	}
	return rankFence
}

// endRegion turns a pure sequence of values into one.
func (f *finder) endRegion() {
	s := &f.region.seq
	if s.array == nil || s.count < 2 || s.first >= f.found.n {
		return
	}
	parts := f.found.from(s.first)
	first := parts[0]
	one := find{rank: first.rank, start: first.start, parts: parts, cut: s.cut, notes: first.notes}
	if s.differ {
		one.json = append(s.array, ']')
		one.notes = append([]RepairNote{{Sequence, first.start}}, one.notes...)
		if s.cut && s.where != "" {
			one.where = "/" + strconv.Itoa(s.count-1) + s.where
		}
		if one.rank < rankObject {
			one.rank = rankObject
		}
	} else {
		one.json, one.cut = first.json, first.cut
		one.notes = append([]RepairNote{{Duplicate, first.start}}, one.notes...)
	}
	f.found.keep(s.first)
	f.found.add(one)
	s.array = nil
}

// sameValue reports whether two documents mean the same.
func sameValue(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if sameText(a, b) {
		return true
	}
	if len(a) > 1<<20 || len(b) > 1<<20 {
		return false
	}
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// sameText compares two documents but for the blanks between tokens.
func sameText(a, b []byte) bool {
	for i, j := 0, 0; ; {
		i, j = skipBlanks(a, i), skipBlanks(b, j)
		if i >= len(a) || j >= len(b) {
			return i >= len(a) && j >= len(b)
		}
		if a[i] != b[j] {
			return false
		}
		if a[i] != '"' {
			i++
			j++
			continue
		}
		x, y := stringEnd(a, i+1), stringEnd(b, j+1)
		if x < 0 || y < 0 || !bytes.Equal(a[i:x], b[j:y]) {
			return false
		}
		i, j = x, y
	}
}

// decode reads a document with its numbers as text.
func decode(doc []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// lineBefore is the text of the line in front of i.
func (f *finder) lineBefore(i int) []byte {
	from := max(f.region.start, i-maxKey)
	if n := bytes.LastIndexByte(f.src[from:i], '\n'); n >= 0 {
		from += n + 1
	}
	return bytes.TrimSpace(f.src[from:i])
}

// ownLine: the array src[start:end] does not stand inside a sentence.
func (f *finder) ownLine(start, end int) bool {
	if !f.endsLine(end) {
		return false
	}
	line := f.lineBefore(start)
	n := len(line)
	switch {
	case n == 0 || n == 1 && line[0] == '>' || line[0] == '<' && line[n-1] == '>':
		return true
	case line[n-1] == '=' || line[n-1] == '(':
		return len(bytes.Fields(line)) <= 4
	}
	switch string(line) {
	case "return", "export default", "data:":
		return true
	}
	bare := bytes.TrimRight(line, " *")
	label := bytes.TrimRight(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte(":")), []byte("：")), " *")
	if len(label) == len(bare) {
		return false
	}
	return labels[strings.ToLower(lastWord(string(label)))]
}

// labels are the words that announce the answer when a colon follows.
var labels = map[string]bool{
	"json": true, "output": true, "result": true, "results": true, "answer": true, "array": true, "list": true, "response": true,
	"输出": true, "结果": true, "答案": true, "列表": true, "数组": true, "如下": true, "json数组": true, "最终答案": true,
}

func lastWord(s string) string {
	if i := strings.LastIndexAny(s, " *_，。,"); i >= 0 {
		return strings.Trim(s[i:], " *_，。,")
	}
	return strings.Trim(s, "*_")
}

// mark: one bare word in brackets, such as [DONE], is no list.
func (f *finder) mark(doc []byte) bool {
	return f.m.unsound == 1 && bytes.IndexByte(doc, ',') < 0
}

// block: braces directly behind a name hold no object if there is nothing but
// bare words in them: a style sheet, program text.
func (f *finder) block(start int) bool {
	if start == 0 || f.m.unsound == 0 {
		return false
	}
	g, _ := glyphAt(f.src, start-1)
	return g.letter() && g != gWide || g.digit() || g == ')' || f.m.semis > 0
}

// endsLine: behind the array at most punctuation is left of the line.
func (f *finder) endsLine(i int) bool {
	for i < len(f.src) {
		g, n := glyphAt(f.src, i)
		switch {
		case g == '\n' || g == '<' || g == '/' || g == '#' || g == '`' || g == ',' || g == '{' || g == '[' || g == '~':
			return true
		case !g.blank() && !g.closer() && g != ';' && g != '.':
			return false
		}
		i += n
	}
	return true
}

// listing: an array inside a sentence counts only if it is plainly data: it
// has strings or containers. A mark such as [1] is a reference.
func (f *finder) listing(doc []byte, start, end int) bool {
	if f.m.unsound > 0 || end < len(f.src) && f.src[end] == '(' {
		return false
	}
	at, _ := afterBlanks(doc, 1)
	if at >= len(doc) || doc[at] != '"' && doc[at] != '{' && doc[at] != '[' {
		return false
	}
	if start > 0 && doc[at] == '"' {
		if g, _ := glyphAt(f.src, start-1); g.digit() || g < 0x80 && g.letter() || g == ']' {
			return false
		}
	}
	return true
}
