package wire

import "strconv"

// PartAt is what the caller calls a part of its talk, at being the place of the
// list that holds it.
func PartAt(parts []Part, i int, at string) string {
	if own := parts[i].At; own != "" {
		return own
	}
	return at + "[" + strconv.Itoa(i) + "]"
}

// ToolAt is what the caller calls one of its tools.
func (p *Prompt) ToolAt(i int) string {
	if own := p.Tools[i].At; own != "" {
		return own
	}
	return "tools[" + strconv.Itoa(i) + "]"
}
