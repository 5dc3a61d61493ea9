package jsonfix

// Schema is a compiled JSON Schema. It is compiled elsewhere, so that this
// package needs no library.
type Schema interface {
	// Validate lists how a valid document breaks the schema; nil = it does not.
	Validate(doc []byte) []Violation
	// Source is the JSON Schema itself, which says what can be re-spelled.
	Source() []byte
}

func follow(found []find, notes []RepairNote, src []byte, o Options) (Result, error) {
	return Result{}, nil
}
