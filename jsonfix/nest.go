package jsonfix

// MaxDepth is the deepest nesting of containers that is accepted, in valid
// documents too: what reads the result would be at risk beyond.
const MaxDepth = 1000

// nest is the stack of open containers, one bit each: set for an object.
type nest struct {
	depth int
	kinds [MaxDepth/64 + 1]uint64
}

// push opens a container; false means that the nesting is too deep.
func (n *nest) push(object bool) bool {
	if n.depth >= MaxDepth {
		return false
	}
	n.depth++
	word, bit := n.depth>>6, uint64(1)<<(n.depth&63)
	if object {
		n.kinds[word] |= bit
	} else {
		n.kinds[word] &^= bit
	}
	return true
}

func (n *nest) pop() { n.depth-- }

// object reports whether the innermost container is an object.
func (n *nest) object() bool { return n.objectAt(n.depth) }

// objectAt reports the kind of the container at a depth from 1 on.
func (n *nest) objectAt(depth int) bool { return n.kinds[depth>>6]>>(depth&63)&1 != 0 }

// closers are the delimiters that the open containers still need.
func (n *nest) closers(to []byte) []byte {
	for d := n.depth; d > 0; d-- {
		to = append(to, closerOf(n.objectAt(d)))
	}
	return to
}

func closerOf(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}
