package jsonfix

import "sort"

// Schema is a compiled JSON Schema. It is compiled elsewhere, so that this
// package needs no library. Both methods may be called concurrently.
type Schema interface {
	// Validate lists how a valid document breaks the schema; nil = it does not.
	Validate(doc []byte) []Violation
	// Shape is what the schema says about types and members.
	Shape() *Shape
}

// candidate of the schema step: a value that was found, and what became of it.
type candidate struct {
	find
	doc   []byte
	notes []RepairNote
	wrong []Violation
}

// follow chooses the candidate that follows the schema: as it is, else
// re-spelled. The source is the whole input if nothing was found in a text.
func follow(found []find, notes []RepairNote, src []byte, o Options) (Result, error) {
	valid := len(found) == 1 && found[0].rank == rankNone
	all := unfold(found)
	var fit []candidate
	for _, c := range all {
		if c.cut {
			continue
		}
		if wrong := o.Schema.Validate(c.json); len(wrong) == 0 {
			fit = append(fit, candidate{find: c, doc: c.json})
		}
	}
	var tried []candidate
	if len(fit) == 0 {
		for _, c := range all {
			x := conform(c, o.Schema)
			tried = append(tried, x)
			if len(x.wrong) == 0 {
				fit = append(fit, x)
			}
		}
	}
	fit = distinct(fit)
	switch {
	case len(fit) == 1 && valid && len(fit[0].notes) == 0:
		return Result{JSON: src, Status: StatusValid}, nil
	case len(fit) == 1:
		c := &fit[0]
		made := append(append([]RepairNote{}, notes...), c.find.notes...)
		if len(all) > 1 {
			made = append(made, RepairNote{Picked, c.start})
		}
		c.strict = false
		return finished(c.doc, append(made, c.notes...), &c.find, o)
	case len(fit) > 1:
		return refuseSchema(Multiple, []Violation{{"", string(Multiple)}}, false)
	case len(tried) == 1 || len(distinct(tried[:min(len(tried), len(found))])) == 1:
		return refuseSchema(SchemaViolated, tried[0].wrong, tried[0].cut)
	}
	return refuseSchema(SchemaViolated, nearest(tried, found), tried[0].cut)
}

func refuseSchema(why Reason, wrong []Violation, cut bool) (Result, error) {
	sort.SliceStable(wrong, func(i, j int) bool { return wrong[i].Path < wrong[j].Path })
	return Result{Status: StatusRefused, Reason: why, Violations: wrong, Truncated: cut}, &Refusal{Reason: why, Violations: wrong}
}

// unfold lists the candidates, and the single documents of a sequence.
func unfold(found []find) (all []find) {
	for _, c := range found {
		all = append(all, c)
		if len(c.parts) > 0 && len(c.parts) <= mostFinds {
			all = append(all, c.parts...)
		}
	}
	return all
}

func distinct(list []candidate) (out []candidate) {
next:
	for _, c := range list {
		for _, d := range out {
			if sameValue(c.doc, d.doc) {
				continue next
			}
		}
		out = append(out, c)
	}
	return out
}

// nearest gives the violations of the candidate that breaks least.
func nearest(tried []candidate, found []find) []Violation {
	if len(found) == 1 {
		return tried[0].wrong
	}
	best := tried[0].wrong
	for _, c := range tried[1:] {
		if len(c.wrong) < len(best) {
			best = c.wrong
		}
	}
	return best
}

// conform re-spells what can be re-spelled without loss, prunes at the cut,
// and validates again.
func conform(c find, s Schema) candidate {
	x := candidate{find: c, doc: c.json}
	root, err := parseTree(c.json)
	if err != nil {
		x.wrong = []Violation{{"", string(NotJSON)}}
		return x
	}
	w := &respeller{shape: s.Shape(), steps: leastSteps + 4*len(c.json)}
	if c.cut {
		root.markCut(c.where)
	}
	out := w.value(root, s.Shape().root, 0)
	x.doc, x.notes = out.text(), w.notes
	if w.emptied != "" || c.cut && out.kind == '[' && len(out.kids) == 0 {
		x.wrong = []Violation{{w.emptiedAt(), "truncated"}}
		return x
	}
	x.wrong = s.Validate(x.doc)
	return x
}
