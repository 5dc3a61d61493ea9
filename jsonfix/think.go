package jsonfix

import "bytes"

// thoughts are the names of tags around reasoning.
var thoughts = []string{"think", "thinking", "thought", "thoughts", "reasoning", "analysis", "reflection", "scratchpad", "seed:think"}

// tag is at something like <name>. Tags of reasoning hide what is inside;
// others are text, with their attributes.
func (f *finder) tag(n int) {
	rest := f.src[f.at:]
	open, closing, width := thoughtTag(rest)
	switch {
	case closing:
		f.forgetAll(f.at + width)
	case open != "":
		f.skipThought(open, width)
	case bytes.HasPrefix(rest, []byte("<|channel|>")):
		f.harmony(len("<|channel|>"))
	case rest[0] == '<':
		if f.region.prose || !bytes.HasPrefix(rest, []byte("<|")) {
			f.impure()
		}
		f.once(Prose, f.at)
		f.at += tagWidth(rest)
	default:
		f.text(gWide, n)
	}
}

// thoughtTag reads a tag of reasoning: the text that would close it, or that
// it is a closing one.
func thoughtTag(rest []byte) (closer string, closing bool, width int) {
	if len(rest) < 6 || rest[0] == '<' && bytes.IndexByte([]byte("trasTRAS/|"), rest[1]) < 0 {
		return "", false, 0
	}
	for _, name := range thoughts {
		for _, form := range [...][2]string{{"<" + name + ">", "</" + name + ">"}} {
			switch {
			case foldPrefix(rest, form[0]):
				return form[1], false, len(form[0])
			case foldPrefix(rest, form[1]):
				return "", true, len(form[1])
			}
		}
	}
	for _, form := range [...][2]string{{"[THINK]", "[/THINK]"}, {"◁think▷", "◁/think▷"}, {"<|begin_of_thought|>", "<|end_of_thought|>"}} {
		switch {
		case foldPrefix(rest, form[0]):
			return form[1], false, len(form[0])
		case foldPrefix(rest, form[1]):
			return "", true, len(form[1])
		}
	}
	return "", false, 0
}

func foldPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && foldEqual(text[:len(prefix)], prefix)
}

// skipThought goes behind the end of a block of reasoning.
func (f *finder) skipThought(closer string, width int) {
	f.once(Think, f.at)
	n := indexFold(f.src[f.at+width:], closer)
	if n < 0 {
		f.cut = f.found.n == 0
		f.setWhy(TruncatedEmpty)
		f.at = len(f.src)
		return
	}
	f.forgetAll(f.at + width + n + len(closer))
}

func foldEqual(text []byte, word string) bool {
	for i, c := range text {
		if c != word[i] && (c|0x20 != word[i]|0x20 || c|0x20-'a' > 25) {
			return false
		}
	}
	return true
}

// indexFold finds an ASCII tag in any case; first as it is, for speed.
func indexFold(text []byte, tag string) int {
	if n := bytes.Index(text, []byte(tag)); n >= 0 {
		return n
	}
	for i := 0; i+len(tag) <= len(text); i++ {
		n := bytes.IndexByte(text[i:], tag[0])
		if n < 0 {
			return -1
		}
		if i += n; foldPrefix(text[i:], tag) {
			return i
		}
	}
	return -1
}

// forgetAll drops what was found so far: it was part of the reasoning.
func (f *finder) forgetAll(at int) {
	f.once(Think, f.at)
	f.at = at
	f.found.keep(0)
	f.fence = fence{}
	f.region = region{start: at}
	f.why, f.hard, f.cut = "", false, false
}

// harmony skips the channels that are not the final one.
func (f *finder) harmony(width int) {
	rest := f.src[f.at+width:]
	switch {
	case bytes.HasPrefix(rest, []byte("analysis")):
		n := bytes.Index(rest, []byte("<|channel|>"))
		if n < 0 {
			n = bytes.Index(rest, []byte("<|end|>"))
		}
		if n < 0 {
			f.cut = f.found.n == 0
			f.setWhy(TruncatedEmpty)
			f.at = len(f.src)
			return
		}
		f.forgetAll(f.at + width + n)
	default:
		n := bytes.Index(rest, []byte("<|message|>"))
		if n < 0 {
			n = -len("<|message|>")
		}
		f.forgetAll(f.at + width + n + len("<|message|>"))
	}
}

// tagWidth is the width of the tag that text begins with, 1 if it is none.
func tagWidth(text []byte) int {
	if len(text) < 3 || text[1]|0x20-'a' > 25 && text[1] != '/' && text[1] != '|' && text[1] != '!' {
		return 1
	}
	for i := 1; i < len(text) && i < 512; i++ {
		switch text[i] {
		case '>':
			return i + 1
		case '<', '{', '\n':
			return i
		}
	}
	return 1
}

// lastThink is the offset behind the last closing tag of reasoning, or -1.
func (f *finder) lastThink() int {
	if f.closer != -2 {
		return f.closer
	}
	f.closer = -1
	for i := len(f.src); i > 0; {
		n := bytes.LastIndexByte(f.src[:i], '<')
		if n < 0 {
			break
		}
		if _, closing, width := thoughtTag(f.src[n:]); closing {
			f.closer = n + width
			break
		}
		i = n
	}
	return f.closer
}
