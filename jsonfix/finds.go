package jsonfix

// find is a value that was found and could be read.
type find struct {
	rank   rank
	start  int
	json   []byte
	cut    bool
	strict bool // a part of the input that the strict scanner has seen whole
	where  string
	notes  []RepairNote
	parts  []find // of a sequence: the single documents
}

// finds are the candidates. The first, mostly the only one, needs no
// allocation.
type finds struct {
	one  find
	rest []find
	n    int
}

func (l *finds) at(i int) *find {
	if i == 0 {
		return &l.one
	}
	return &l.rest[i-1]
}

func (l *finds) add(c find) {
	if l.n++; l.n == 1 {
		l.one = c
		return
	}
	l.rest = append(l.rest, c)
}

// keep drops all but the first n.
func (l *finds) keep(n int) {
	l.n = min(l.n, n)
	l.rest = l.rest[:max(0, l.n-1)]
}

// from copies all from the i-th on.
func (l *finds) from(i int) (list []find) {
	for ; i < l.n; i++ {
		list = append(list, *l.at(i))
	}
	return list
}
