package schema

import (
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"backstop/jsonfix"
)

// mostViolations bounds the list: it goes into a new question to the model.
const mostViolations = 100

// violations turns the error of a validation into a list by JSON Pointer and
// keyword, in the order of the pointers.
func violations(err error) []jsonfix.Violation {
	var e *jsonschema.ValidationError
	if !errors.As(err, &e) {
		return []jsonfix.Violation{{Path: "", Reason: "schema"}}
	}
	var list []jsonfix.Violation
	collect(e, &list)
	slices.SortStableFunc(list, func(a, b jsonfix.Violation) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	list = slices.Compact(list)
	return list[:min(len(list), mostViolations)]
}

func collect(e *jsonschema.ValidationError, list *[]jsonfix.Violation) {
	if len(*list) > 10*mostViolations {
		return
	}
	at := pointer(e.InstanceLocation)
	add := func(path, reason string) { *list = append(*list, jsonfix.Violation{Path: path, Reason: reason}) }
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add(at+"/"+escape(name), "required")
		}
	case *kind.DependentRequired:
		for _, name := range k.Missing {
			add(at+"/"+escape(name), "dependentRequired")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(at+"/"+escape(name), "additionalProperties")
		}
	case *kind.AnyOf:
		union(e, at, "anyOf", list)
	case *kind.OneOf:
		union(e, at, "oneOf", list)
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			collect(cause, list)
		}
	case *kind.FalseSchema:
		add(at, falseKeyword(e.SchemaURL))
	default:
		words := e.ErrorKind.KeywordPath()
		if len(words) == 0 {
			words = []string{"schema"}
		}
		add(at, words[0])
	}
}

// union reports the branch that was meant, if all others are for another kind
// of value; else that no branch holds.
func union(e *jsonschema.ValidationError, at, word string, list *[]jsonfix.Violation) {
	var meant []jsonfix.Violation
	count := 0
	for _, branch := range e.Causes {
		var own []jsonfix.Violation
		collect(branch, &own)
		if !foreign(own, at) {
			meant = own
			count++
		}
	}
	if count == 1 && len(e.Causes) > 1 {
		*list = append(*list, meant...)
		return
	}
	*list = append(*list, jsonfix.Violation{Path: at, Reason: word})
}

// foreign: the value is of another type than the branch has, or differs in
// the member that names the branch.
func foreign(own []jsonfix.Violation, at string) bool {
	for _, v := range own {
		if v.Path == at && v.Reason == "type" || v.Reason == "const" {
			return true
		}
	}
	return false
}

// falseKeyword is the keyword whose schema false forbids a value.
func falseKeyword(url string) string {
	_, at, _ := strings.Cut(url, "#")
	for _, step := range slices.Backward(strings.Split(at, "/")) {
		switch step {
		case "unevaluatedProperties", "unevaluatedItems", "additionalItems", "items", "properties", "patternProperties", "contains", "not":
			return step
		}
	}
	return "false"
}

func pointer(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("/" + escape(s))
	}
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}
