package wire

import (
	"backstop"
)

// ruling names one row of the outcome table.
type ruling uint8

const (
	unruled ruling = iota
	rate
	ramp
	quota
	auth
	edgeRate // the limit of an edge in front of the upstream, by address
	edgeAuth // the edge refuses us, whatever the key
	oversize // one request above the whole minute's limit: no key is at fault
	overload
	server
	late // no answer in time, by the upstream's own clock
	conflict
	html
	alien // not the dialect at all
	empty
	badJSON // the model spoiled a tool call or promised JSON
	blank
	filter
	param
	tooLong
	size
	model
	unsupported // 501, 505: this upstream cannot, another may
)

// verdict is what follows from a ruling. `delayed` rows park the upstream,
// and lose their second try on it, only if the answer names a delay.
type verdict struct {
	class   backstop.Class
	kind    backstop.Kind
	counts  backstop.Counts
	park    backstop.Park
	delayed bool
	retry   bool
	next    bool
	status  int // what an error inside a 200 stands for
}

var verdicts = [...]verdict{
	rate:        {class: backstop.Limited, kind: backstop.KindRate, park: backstop.ParkKey, next: true, status: 429},
	ramp:        {class: backstop.Limited, kind: backstop.KindRamp, park: backstop.ParkUpstream, next: true, status: 429},
	quota:       {class: backstop.Limited, kind: backstop.KindQuota, park: backstop.ParkKey, next: true, status: 429},
	auth:        {class: backstop.Limited, kind: backstop.KindAuth, park: backstop.ParkKey, next: true, status: 401},
	edgeRate:    {class: backstop.Limited, kind: backstop.KindRate, park: backstop.ParkUpstream, next: true, status: 429},
	edgeAuth:    {class: backstop.Limited, kind: backstop.KindAuth, park: backstop.ParkUpstream, next: true, status: 403},
	oversize:    {class: backstop.Limited, kind: backstop.KindRate, next: true, status: 429},
	overload:    {class: backstop.Broken, kind: backstop.KindOverload, counts: backstop.CountsModel, delayed: true, next: true, status: 503},
	server:      {class: backstop.Broken, kind: backstop.KindServer, counts: backstop.CountsModel, delayed: true, retry: true, next: true, status: 500},
	late:        {class: backstop.Broken, kind: backstop.KindTimeout, counts: backstop.CountsModel, delayed: true, retry: true, next: true, status: 504},
	conflict:    {class: backstop.Broken, kind: backstop.KindConflict, retry: true, next: true, status: 409},
	html:        {class: backstop.Garbled, kind: backstop.KindHTML, counts: backstop.CountsModel, retry: true, next: true},
	alien:       {class: backstop.Garbled, kind: backstop.KindProtocol, counts: backstop.CountsModel, retry: true, next: true},
	empty:       {class: backstop.Garbled, kind: backstop.KindEmpty, counts: backstop.CountsModel, retry: true, next: true},
	badJSON:     {class: backstop.Garbled, kind: backstop.KindJSON, counts: backstop.CountsModel, retry: true, next: true},
	blank:       {class: backstop.Garbled, kind: backstop.KindBlank, retry: true, next: true},
	filter:      {class: backstop.Refused, kind: backstop.KindFilter, status: 400},
	param:       {class: backstop.Rejected, kind: backstop.KindParam, status: 400},
	tooLong:     {class: backstop.Rejected, kind: backstop.KindContext, status: 400},
	size:        {class: backstop.Rejected, kind: backstop.KindSize, status: 413},
	model:       {class: backstop.Rejected, kind: backstop.KindModel, park: backstop.ParkUpstream, next: true, status: 404},
	unsupported: {class: backstop.Rejected, kind: backstop.KindParam, next: true, status: 501},
}

// byStatus is the last word: what a status means when neither code nor type
// nor words say more.
func byStatus(status int) ruling {
	switch status {
	case 401, 403, 407:
		return auth
	case 402:
		return quota
	case 408, 504, 522, 524:
		return late
	case 409:
		return conflict
	case 413:
		return size
	case 424, 425, 499:
		return server
	case 429:
		return rate
	case 451:
		return filter
	case 498, 503, 529:
		return overload
	case 501, 505:
		return unsupported
	}
	switch {
	case status >= 500:
		return server
	case status >= 400:
		return param
	}
	return alien
}

// statusGroup is a set of statuses for which words are believed.
type statusGroup uint8

const (
	on400 statusGroup = 1 << iota // 400, 422 and the other statuses of a bad request
	on401
	on403 // and 402
	on404
	on429
	on500 // 5xx of a fault, and 424
	on503 // 5xx of an overload
	on200 // an error inside a 200 that names no status
)

func groupOf(status int) statusGroup {
	switch status {
	case 401:
		return on401
	case 402, 403:
		return on403
	case 404:
		return on404
	case 429:
		return on429
	case 424:
		return on500
	case 498, 503, 529:
		return on503
	}
	switch {
	case status >= 500:
		return on500
	case status >= 400:
		return on400
	}
	return on200
}

// implied is the status that a generic code or type stands for. These words
// say no more than a status does, so they never beat one; they speak when an
// error comes inside a 200 without a number.
var implied = map[string]int{
	"invalid_request_error": 400, "invalid_request": 400, "badrequesterror": 400, "badrequest": 400, "bad_request": 400,
	"invalid_argument": 400, "failed_precondition": 400, "validationexception": 400, "validation_error": 400,
	"invalid_parameter_error": 400, "invalidparameter": 400, "missingparameter": 400, "invalidparametervalue": 400,
	"validation": 422, "template_error": 422, "tool_error": 422, "unprocessableentityerror": 422,
	"authenticationerror": 401, "unauthenticated": 401, "unauthorized": 401, "auth_error": 401,
	"permission_error": 403, "permission_denied": 403, "permissiondeniederror": 403, "forbidden": 403,
	"not_found_error": 404, "notfounderror": 404, "notfound": 404, "not_found": 404, "resourcenotfoundexception": 404,
	"conflict_error": 409, "aborted": 409,
	"rate_limit_error": 429, "ratelimiterror": 429, "toomanyrequests": 429, "too_many_requests": 429, "resource_exhausted": 429,
	"generation": 424, "modelerrorexception": 424, "modelstreamerrorexception": 424,
	"server_error": 500, "api_error": 500, "internal_error": 500, "internal_server_error": 500, "internalservererror": 500,
	"internalerror": 500, "internal": 500, "internalserverexception": 500, "internalserviceerror": 500,
	"incomplete_generation": 500, "upstream_error": 502, "bad_gateway": 502,
	"not_supported_error": 501, "unimplemented": 501,
	"service_unavailable_error": 503, "unavailable_error": 503, "unavailable": 503, "serviceunavailableerror": 503,
	"service_unavailable": 503, "serviceunavailable": 503,
	"gatewaytimeout": 504, "gateway_timeout": 504, "deadline_exceeded": 504,
}
