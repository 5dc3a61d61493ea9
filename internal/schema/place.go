package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// placed is why a schema does not compile, in one line: the first of the
// innermost complaints, which says where it stands. The library tells the whole
// tree of its own rules that led there.
func placed(err error) error {
	var whole *jsonschema.SchemaValidationError
	var e *jsonschema.ValidationError
	if !errors.As(err, &whole) || !errors.As(whole.Err, &e) {
		return err
	}
	return innermost(e)
}

func innermost(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return e
	}
	var best *jsonschema.ValidationError
	for _, cause := range e.Causes {
		if c := innermost(cause); best == nil || len(c.InstanceLocation) > len(best.InstanceLocation) {
			best = c
		}
	}
	return best
}

// misspelled says besides where a text stops being JSON.
func misspelled(source []byte, err error) error {
	var v any
	var e *json.SyntaxError
	if !errors.As(json.Unmarshal(source, &v), &e) {
		return err
	}
	before := source[:min(int(e.Offset), len(source))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := max(1, len(before)-1-bytes.LastIndexByte(before, '\n'))
	return fmt.Errorf("%w (%d:%d: %w)", err, line, column, e)
}
