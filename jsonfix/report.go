package jsonfix

// Status says what became of a document.
type Status string

// The three ends of a repair.
const (
	StatusValid    Status = "valid"    // was JSON (and followed the schema): the same bytes
	StatusRepaired Status = "repaired" // is JSON now
	StatusRefused  Status = "refused"  // has no single reading: Reason says why
)

// Reason says in one word why a document was refused.
type Reason string

// The reasons of a refusal.
const (
	NotJSON            Reason = "not-json"            // prose, another notation, or damaged beyond reading
	Multiple           Reason = "multiple"            // several different answers
	AmbiguousNumber    Reason = "ambiguous-number"    // 1,234 may be 1234 or 1.234
	AmbiguousContainer Reason = "ambiguous-container" // neither an object nor an array
	NoValue            Reason = "no-value"            // a value that only running code would give
	TruncatedEmpty     Reason = "truncated-empty"     // cut before anything was said
	TooDeep            Reason = "too-deep"            // nested deeper than MaxDepth
	TooLarge           Reason = "too-large"           // longer than Options.MaxBytes
	Lossy              Reason = "lossy"               // strict: only a lossy repair would do
	SchemaViolated     Reason = "schema"              // JSON, but not as the schema has it: see Violations
)

// Code names one kind of repair, for reports and metrics.
type Code string

// The kinds of repair. Lossy tells which of them lose something.
const (
	Fence            Code = "fence"     // a Markdown fence around the value
	Prose            Code = "prose"     // text around the value
	Think            Code = "think"     // a block of reasoning before it
	Invisible        Code = "invisible" // byte order mark, odd blanks, control characters outside strings
	Comment          Code = "comment"
	SingleQuote      Code = "single-quote" // 'a' or `a`
	SmartQuote       Code = "smart-quote"  // “a”
	TripleQuote      Code = "triple-quote" // """a"""
	FullWidth        Code = "fullwidth"    // ｛：，｝ as structure
	UnquotedKey      Code = "unquoted-key"
	UnquotedValue    Code = "unquoted-value"
	Literal          Code = "literal" // True, None
	Number           Code = "number"  // +5, .5, 0xFF, 1_000
	Tuple            Code = "tuple"   // (1, 2)
	Wrapper          Code = "wrapper" // ObjectId("…"), a call or an assignment around the value
	Concat           Code = "concat"  // "a" + "b"
	TrailingComma    Code = "trailing-comma"
	ExtraComma       Code = "extra-comma"
	MissingComma     Code = "missing-comma"
	Separator        Code = "separator" // ; or = or => for , or :
	MissingColon     Code = "missing-colon"
	MissingQuote     Code = "missing-quote"
	MissingOpener    Code = "missing-opener" // the first brace or bracket
	MismatchedCloser Code = "mismatched-closer"
	ExtraCloser      Code = "extra-closer"
	DoubledBrace     Code = "doubled-brace" // {{ }}
	InnerQuote       Code = "inner-quote"   // a quote inside a string, not escaped
	ControlCharacter Code = "control"       // a raw control character inside a string
	BadEscape        Code = "bad-escape"    // \d, \'
	Escaped          Code = "escaped"       // the whole document escaped once with backslashes
	HTMLEscaped      Code = "html-escaped"  // the whole document escaped once for HTML
	Sequence         Code = "sequence"      // several documents became one array
	Duplicate        Code = "duplicate"     // the same answer more than once
	Cut              Code = "cut"           // the input ended: owed delimiters were added
	CutMember        Code = "cut-member"    // a member without its value was dropped at the cut; lossy
	CutNumber        Code = "cut-number"    // a number that may go on was dropped at the cut; lossy
	MissingValue     Code = "missing-value" // a member without a value was dropped; lossy
	NonFinite        Code = "non-finite"    // NaN, Infinity, undefined became null; lossy
	Ellipsis         Code = "ellipsis"      // the model left data out; lossy
	InvalidUTF8      Code = "invalid-utf8"  // bytes became U+FFFD; lossy

	Picked      Code = "picked"    // the one candidate that follows the schema
	Coerced     Code = "coerced"   // a scalar spelled as the schema's type
	Wrapped     Code = "wrapped"   // a value put into the array that was due
	Unwrapped   Code = "unwrapped" // a value taken out of an array or object around it
	Decoded     Code = "decoded"   // JSON inside a string
	EnumSpelled Code = "enum"      // case and separators of an enum member
	KeySpelled  Code = "key"       // case and separators of a required key
	Dropped     Code = "dropped"   // a member that the schema forbids, or null for an absent one
	CutItem     Code = "cut-item"  // the unfinished last item did not follow the schema; lossy
)

// Lossy reports whether repairs of this kind lose something, so that
// [Options.Strict] refuses them.
func (c Code) Lossy() bool {
	switch c {
	case CutMember, CutNumber, MissingValue, NonFinite, Ellipsis, InvalidUTF8, CutItem:
		return true
	}
	return false
}

// RepairNote is one repair. Offset counts bytes of the input, or of the
// unescaped document if the whole was escaped once.
type RepairNote struct {
	Code   Code `json:"code"`
	Offset int  `json:"offset"`
}

// Violation is one breach of a schema: the place as JSON Pointer (of the
// missing member for "required") and the keyword that is not met.
type Violation struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// maxNotes bounds a report; what comes later is repaired without a note,
// unless it is the first lossy one.
const maxNotes = 256

// report collects notes. The first few need no allocation.
type report struct {
	few   [12]RepairNote
	n     int
	many  []RepairNote
	kinds [8]Code // those that once was asked for
	asked int
}

func (r *report) note(code Code, offset int) {
	switch {
	case r.n < len(r.few):
		r.few[r.n] = RepairNote{code, offset}
	case r.many == nil:
		r.many = append(make([]RepairNote, 0, maxNotes), r.few[:]...)
		fallthrough
	case len(r.many) < maxNotes:
		r.many = append(r.many, RepairNote{code, offset})
	}
	r.n++
}

// once notes a kind that is worth one note only.
func (r *report) once(code Code, offset int) {
	for _, k := range r.kinds[:r.asked] {
		if k == code {
			return
		}
	}
	if r.asked < len(r.kinds) {
		r.kinds[r.asked] = code
		r.asked++
	}
	r.note(code, offset)
}

// list shows the notes; the slice belongs to the report.
func (r *report) list() []RepairNote {
	if r.many != nil {
		return r.many
	}
	return r.few[:r.n]
}

// take gives the notes away.
func (r *report) take() []RepairNote {
	if r.many != nil || r.n == 0 {
		return r.many
	}
	return append([]RepairNote(nil), r.few[:r.n]...)
}

// forget drops the notes behind the n-th: what they spoke of was undone.
func (r *report) forget(n int) {
	if n >= r.n {
		return
	}
	r.n = n
	r.asked = 0
	switch {
	case r.many == nil:
	case n < len(r.few):
		r.many = nil
	case n < len(r.many):
		r.many = r.many[:n]
	}
}
