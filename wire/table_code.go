package wire

import (
	"strings"
)

// codeTable maps codes and types, in lower case, to rulings.
type codeTable map[string]ruling

// codePart is a piece of a code that decides for a whole family of codes.
type codePart struct {
	part   string
	ruling ruling
}

// codes holds what a code or type means wherever it turns up. Codes that
// mean different things by vendor are in [habits]; words that only repeat a
// status are in [implied].
var codes = codeTable{
	// Rates of ours.
	"rate_limit_exceeded": rate, "rate_limited": rate, "rate_limit_reached_error": rate, "requests": rate, "tokens": rate,
	"rpm_rate_limit_exceeded": rate, "tpm_rate_limit_exceeded": rate, "limit_requests": rate, "throttling": rate,
	"throttlingexception": rate, "throttled": rate, "limitexceeded": rate, "inflightbatchsizeexceeded": rate,
	"token_concurrency_limit_reached": rate, "concurrency_limit_exceeded": rate, "openrouter_in_flight_budget": rate,
	"failedoperation.engineserverlimitexceeded": rate, "quota-per-minute": rate,

	// Ramps.
	"slow_down": ramp, "limit_burst_rate": ramp, "throttling.burstrate": ramp, "requestbursttoofast": ramp,

	// Money and long windows.
	"insufficient_quota": quota, "credit_balance_exhausted": quota, "billing_error": quota, "billing_hard_limit_reached": quota,
	"billing_not_active": quota, "enforced_spend_limit_reached": quota, "quota_exceeded": quota, "quotaexceeded": quota,
	"organization_spend_limit_exceeded": quota, "project_spend_limit_exceeded": quota, "budget_exceeded": quota,
	"exceededbudget": quota, "exceeded_current_quota_error": quota, "insufficient_balance_error": quota,
	"insufficient_balance": quota, "insufficient_user_quota": quota, "pre_consume_token_quota_failed": quota,
	"arrearage": quota, "allocationquota.freetieronly": quota, "prepaidbilloverdue": quota, "postpaidbilloverdue": quota,
	"accountoverdueerror": quota, "setlimitexceeded": quota, "servicequotaexceededexception": quota, "credit_limit": quota,
	"limit_source": quota, "quota-per-day": quota, "failedoperation.freeresourcepackexhausted": quota,
	"failedoperation.resourcepackexhausted": quota, "failedoperation.servicestoparrears": quota,
	"resourceinsufficient.chargeresourceexhaust": quota, "membership_required": quota,

	// Credentials, accounts, regions.
	"invalid_api_key": auth, "invalidapikey": auth, "incorrect_api_key_error": auth, "invalid_authentication_error": auth,
	"authentication_error": auth, "account_deactivated": auth, "unsupported_country_region_territory": auth,
	"api_key_invalid": auth, "invalid_iam_token": auth, "accessdenied": auth, "access_denied": auth,
	"accessdeniedexception": auth, "access_terminated_error": auth, "expiredtokenexception": auth,
	"unrecognizedclientexception": auth, "unauthorizedoperation": auth,
	"failedoperation.servicestop": auth, "failedoperation.userunautherror": auth, "ip_not_authorized": auth,
	"organization_restricted": auth, "no_such_organization": auth, "workspace.accessdenied": auth,

	// Overload of the service.
	"server_is_overloaded": overload, "overloaded_error": overload, "overloaded": overload, "engine_overloaded_error": overload,
	"capacity_exceeded": overload, "serveroverloaded": overload, "modelloadingerror": overload, "over_capacity": overload,
	"service_tier_capacity_exceeded": overload, "nocapacity": overload, "server_high_load": overload,
	"modelnotreadyexception": overload, "serviceunavailableexception": overload, "get_channel_failed": overload,
	"channel:no_available_key": overload,

	// Faults and timeouts.
	"do_request_failed": server, "bad_response": server, "failedoperation.engineservererror": server,
	"modelservingerror": server, "modelservicefailed": server,
	"timeout_error": late, "requesttimeout": late, "internalerror.timeout": late, "timeout": late,
	"failedoperation.enginerequesttimeout": late, "modeltimeoutexception": late,
	"channel:response_time_exceeded": late,

	// Spoiled by the model or lost on the way.
	"tool_use_failed": badJSON, "json_validate_failed": badJSON, "output_parse_failed": badJSON, "empty_response": empty,

	// Filters.
	"content_policy_violation": filter, "content_filter": filter, "responsibleaipolicyviolation": filter, "invalid_prompt": filter,
	"contentfilter": filter, "content_filter_error": filter, "flagged_input": filter, "data_inspection_failed": filter,
	"datainspectionfailed": filter, "censorship_block": filter, "unsafe_request": filter, "sensitive_words_detected": filter,
	"prompt_blocked": filter, "moderation_blocked": filter, "contentpolicyviolationerror": filter,

	// The request.
	"context_length_exceeded": tooLong, "exceed_context_size_error": tooLong, "characters_too_long": tooLong,
	"tokens_too_long": tooLong, "string_above_max_length": tooLong, "max_tokens_exceeded": tooLong,
	"request_too_large":     size,
	"unsupported_parameter": param, "unsupported_value": param, "unknown_parameter": param, "extra_forbidden": param,
	"missing_required_parameter": param, "invalid_value": param, "invalid_type": param, "malformed_json": param,
	"invalid_messages": param, "unknown_url": param, "operationnotsupported": param,

	// The model.
	"model_not_found": model, "modelnotfound": model, "invalid_model": model, "model_decommissioned": model,
	"model_deprecated": model, "model_terms_required": model, "deploymentnotfound": model, "modelnotopen": model,
	"unsupportedmodel": model, "model.accessdenied": model, "accessdenied.unpurchased": model,
	"invalidparametervalue.model": model, "failedoperation.servicenotactivated": model, "model_not_available": model,
}

// codeParts are tried in order when the whole code is unknown.
var codeParts = []codePart{
	{"riskdetection", filter}, {"sensitivecontent", filter}, {"illegaldetected", filter},
	{"burst", ramp},
	{"freetieronly", quota}, {"overdue", quota}, {"inarrears", quota}, {"lowbalance", quota}, {"stopusing", quota},
	{"quota_user_daily", quota}, {"billing_insufficient", quota}, {"entitlement_", quota}, {"spend_limit", quota},
	{"insufficient_balance", quota}, {"insufficient_credit", quota},
	{"ratelimitexceeded", rate}, {"requestlimitexceeded", rate}, {"limitexceeded.", rate}, {"throttling.", rate},
	{"authfailure", auth}, {"unauthorizedoperation.", auth}, {"invalid_api_key", auth},
	{"invalidendpoint", model},
	{"contextwindowexceeded", tooLong}, {"context_length", tooLong}, {"context_window", tooLong},
	{"contentpolicy", filter}, {"content_policy", filter},
	{"overloaded", overload},
	{"invalidparameter.", param}, {"invalidparametervalue.", param}, {"missingparameter.", param},
	{"channel:", server},
}

func findPart(code string) ruling {
	for _, p := range codeParts {
		if strings.Contains(code, p.part) {
			return p.ruling
		}
	}
	return unruled
}
