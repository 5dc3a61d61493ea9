package intake

import (
	"fmt"

	"backstop"
)

// Complaint keeps the first complaint about a body.
type Complaint struct {
	Fail *backstop.Failure // nil = none
}

// Refuse complains about a parameter, "" = about the whole.
func (c *Complaint) Refuse(param, format string, args ...any) {
	if c.Fail == nil {
		c.Fail = Refuse(param, format, args...)
	}
}

// Refuse is the refusal of a body (invalid_request, 400).
func Refuse(param, format string, args ...any) *backstop.Failure {
	return &backstop.Failure{
		Code: backstop.CodeInvalidRequest, Status: backstop.CodeInvalidRequest.Status(),
		Message: fmt.Sprintf(format, args...), Param: param,
	}
}
