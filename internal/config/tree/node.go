// Package tree reads a YAML file into nodes that know where they stand, and
// renders what is wrong with them.
//
// It is the only place that touches the YAML library, and it bounds what a
// hostile file can cost: bytes, depth, keys of a mapping, and what aliases
// multiply. Nothing here knows what the file is about.
package tree

// Kind is the shape of a node.
type Kind uint8

// The shapes. A key without a value is Null.
const (
	Null Kind = iota
	Scalar
	Mapping
	Sequence
)

// String names the shape as an operator would.
func (k Kind) String() string {
	switch k {
	case Scalar:
		return "a single value"
	case Mapping:
		return "a mapping"
	case Sequence:
		return "a list"
	}
	return "nothing"
}

// Node is one value of the file. Scalars are kept as text: what they mean is
// decided by the key they belong to. Nodes that an alias repeats are shared.
type Node struct {
	Kind   Kind
	Text   string // Scalar: the text, escapes resolved
	Quoted bool   // Scalar: written in quotes or as a block
	Line   int
	Column int
	Pairs  []Pair  // Mapping, in file order, double keys included
	Items  []*Node // Sequence

	weight int // of the node and all below it, aliases counted each time
	depth  int
}

// Pair is one key of a mapping with its value.
type Pair struct {
	Key    *Node
	Value  *Node
	Merged bool // came in with <<, so the mapping's own keys win
}

// Get returns the value of the first key with that name, nil if there is none.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key.Text == name {
			return n.Pairs[i].Value
		}
	}
	return nil
}

// Each visits the node and everything below it. The bounds of [Read] make
// that finite however often aliases repeat a part.
func (n *Node) Each(visit func(*Node)) {
	if n == nil {
		return
	}
	visit(n)
	for i := range n.Pairs {
		n.Pairs[i].Value.Each(visit)
	}
	for _, item := range n.Items {
		item.Each(visit)
	}
}

// The bounds of a file.
const (
	MaxSize   = 1 << 20 // bytes of the file
	maxDepth  = 32      // mappings and lists in each other
	maxKeys   = 2000    // keys of one mapping
	maxTokens = 300_000
	maxWeight = 2 << 20 // nodes and bytes after aliases are multiplied out
)

// weigh sets weight and depth from the children and reports whether the node
// stays within bounds.
func (n *Node) weigh() bool {
	n.weight, n.depth = 1+len(n.Text), 1
	add := func(c *Node) {
		n.weight = min(n.weight+c.weight, maxWeight+1)
		n.depth = max(n.depth, c.depth+1)
	}
	for i := range n.Pairs {
		n.weight += 1 + len(n.Pairs[i].Key.Text)
		add(n.Pairs[i].Value)
	}
	for _, item := range n.Items {
		add(item)
	}
	return n.weight <= maxWeight && n.depth <= maxDepth
}
