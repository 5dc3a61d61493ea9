package wire

// refinement turns one ruling into another when the words say so.
type refinement struct {
	from  ruling
	words string
	to    ruling
}

// habit is what one vendor means where it differs from the others. Facts as
// of 2026-11, from the vendors' pages and public threads.
type habit struct {
	codes  codeTable
	words  []wordRule
	refine []refinement
	// numbered: messages end in the vendor's own code, "… (1008)".
	numbered bool
	// relayed: rulings for statuses that a relay passes on from behind itself,
	// where no key of ours is at fault.
	relayed map[int]ruling
}
