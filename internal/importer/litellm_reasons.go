package importer

// The tables say for each known key of LiteLLM why it is not carried over;
// "" means that it is, elsewhere in this package, or that it changes nothing.

const (
	noPrices   = "prices and budgets are not tracked here"
	noStore    = "limits and breakers are per process; there is no shared store"
	noDatabase = "there is no database: the file is the only source of the configuration"
	noHooks    = "callbacks are not called; there are metrics, OpenTelemetry traces and one log line a call"
	noGuards   = "guardrails are not part of this gateway"
	asDefault  = "there it is a default that a request may override; here quirks.set_params would force it"
	byStrategy = "members are tried in the order of the chain"
	cloudLogin = "keys are sent as they are; signing and service accounts are not spoken"
)

var topReasons = map[string]string{
	"include": "other files are not read: import each of them", "credential_list": "credentials by name are not known here: write key into the upstream",
	"guardrails": noGuards, "prompts": "prompts are the application's", "vector_store_registry": "vector stores are not part of this gateway",
	"mcp_servers": "tool servers are not part of this gateway", "mcp_tools": "tool servers are not part of this gateway", "agent_list": "agents are the application's",
	"search_tools": "search tools are not part of this gateway", "finetune_settings": "write passthrough: true for the upstream instead", "files_settings": "write passthrough: true for the upstream instead",
	"callback_settings": noHooks, "team_settings": "there are callers, but no teams", "default_team_settings": "there are callers, but no teams",
	"assistant_settings": "assistants are not part of this gateway", "cache_params": "the cache is in memory",
}

var modelReasons = map[string]string{
	"tpm": "limits count requests, not tokens", "rpm": "write it below litellm_params", "model_id": "", "access_groups": "callers have models: [...]",
}

var paramReasons = map[string]string{
	"model": "", "custom_llm_provider": "", "api_base": "", "base_url": "", "api_key": "", "order": "", "organization": "", "rpm": "",
	"max_parallel_requests": "", "timeout": "", "request_timeout": "", "stream_timeout": "", "max_retries": "", "num_retries": "", "cooldown_time": "", "allowed_fails": "",
	"extra_headers": "", "headers": "", "extra_body": "", "api_version": "", "vertex_project": "", "vertex_location": "", "aws_region_name": "", "additional_drop_params": "",
	"drop_params": "the vendor profiles leave out what each vendor refuses; more with quirks.drop_params",
	"tpm":         "limits count requests, not tokens", "weight": byStrategy, "tags": "callers cannot choose upstreams by tag",
	"input_cost_per_token": noPrices, "output_cost_per_token": noPrices, "input_cost_per_second": noPrices, "output_cost_per_second": noPrices, "max_budget": noPrices, "budget_duration": noPrices,
	"vertex_credentials": cloudLogin, "aws_access_key_id": cloudLogin, "aws_secret_access_key": cloudLogin, "aws_session_token": cloudLogin, "aws_role_name": cloudLogin, "aws_session_name": cloudLogin, "aws_profile_name": cloudLogin,
	"azure_ad_token": cloudLogin, "tenant_id": cloudLogin, "client_id": cloudLogin, "client_secret": cloudLogin, "azure_username": cloudLogin, "azure_password": cloudLogin,
	"temperature": asDefault, "max_tokens": asDefault, "max_completion_tokens": asDefault, "top_p": asDefault, "top_k": asDefault, "n": asDefault, "stop": asDefault, "seed": asDefault, "presence_penalty": asDefault,
	"frequency_penalty": asDefault, "reasoning_effort": asDefault, "thinking": asDefault, "response_format": asDefault, "tools": asDefault, "tool_choice": asDefault, "user": asDefault, "dimensions": asDefault, "encoding_format": asDefault,
	"mock_response": "a fixed answer is a local tier: local: {template: {text: …}}", "litellm_credential_name": "credentials by name are not known here: write key into the upstream",
	"use_in_pass_through": "write passthrough: true for the upstream if other paths are used", "merge_reasoning_content_in_choices": "reasoning is passed on as it comes", "region_name": "", "model_info": "",
	"configurable_clientside_auth_params": "a caller can never choose an address or a key here", "litellm_trace_id": "", "guardrails": noGuards, "ssl_verify": "certificates are always checked; ca: FILE adds a private CA",
}

var settingReasons = map[string]string{
	"fallbacks": "", "context_window_fallbacks": "", "content_policy_fallbacks": "", "default_fallbacks": "", "model_group_alias": "", "num_retries": "", "max_retries": "", "timeout": "", "request_timeout": "", "stream_timeout": "",
	"allowed_fails": "", "cooldown_time": "", "cache": "", "cache_responses": "", "cache_params": "", "json_logs": "", "set_verbose": "", "debug_level": "", "suppress_debug_info": "",
	"drop_params":      "the vendor profiles leave out what each vendor refuses; more with quirks.drop_params",
	"routing_strategy": byStrategy, "routing_strategy_args": byStrategy, "redis_host": noStore, "redis_port": noStore, "redis_password": noStore, "redis_url": noStore, "redis_db": noStore,
	"retry_after": "waits follow retry.jitter and what the upstream says", "retry_policy": "what is tried again is decided by the kind of fault; see explain MODEL", "allowed_fails_policy": "each kind of fault counts as it should; see explain MODEL", "model_group_retry_policy": "what is tried again is decided by the kind of fault; see explain MODEL",
	"enable_pre_call_checks": "write context: for the tiers: a call that was refused as too long goes to a larger one", "max_fallbacks": "a call makes at most 4 upstream requests", "disable_cooldowns": "breakers cannot be turned off", "enable_tag_filtering": "callers cannot choose upstreams by tag",
	"max_parallel_requests": "write limits: {inflight: N} for an upstream", "default_max_parallel_requests": "write limits: {inflight: N} for an upstream", "rpm": "", "optional_pre_call_checks": "see context of a tier", "provider_budget_config": noPrices, "caching_groups": "the cache is per route", "client_ttl": "",
	"success_callback": noHooks, "failure_callback": noHooks, "callbacks": noHooks, "service_callback": noHooks, "service_callbacks": noHooks, "langfuse_default_tags": noHooks, "s3_callback_params": noHooks, "alerting_config": noHooks,
	"turn_off_message_logging": "prompts and answers are never logged", "redact_user_api_key_info": "keys are never logged", "redact_messages_in_exceptions": "prompts are never logged", "modify_params": "requests are not changed", "enable_preview_features": "",
	"max_budget": noPrices, "budget_duration": noPrices, "default_internal_user_params": "there are callers, but no users", "upperbound_key_generate_params": "keys of callers stand in the file", "max_internal_user_budget": noPrices,
	"force_ipv4": "", "telemetry": "", "ssl_verify": "certificates are always checked; ca: FILE adds a private CA", "ssl_certificate": "ca: FILE adds a private CA", "guardrails": noGuards, "default_team_settings": "there are callers, but no teams",
	"content_policy_fallback": "", "mock_testing_fallbacks": "use backstop mock and POST /api/breakers/{upstream}", "forward_traceparent_to_llm_provider": "traceparent is always passed on", "require_auth_for_metrics_endpoint": "metrics are on the admin plane, or on metrics.listen without a token",
}

var generalReasons = map[string]string{
	"database_url": noDatabase, "database_connection_pool_limit": noDatabase, "database_connection_timeout": noDatabase, "store_model_in_db": noDatabase, "store_prompts_in_spend_logs": "prompts are never stored", "disable_spend_logs": "", "disable_database_credential_check": "", "allow_requests_on_db_unavailable": "",
	"completion_model": "callers name their model", "infer_model_from_keys": "write the models out", "alerting": noHooks, "alerting_threshold": noHooks, "alert_types": noHooks, "alert_to_webhook_url": noHooks, "alerting_args": noHooks,
	"max_parallel_requests": "write inflight for a caller", "global_max_parallel_requests": "write limits: {inflight: N} for an upstream", "background_health_checks": "only open upstreams are probed; closed ones are watched by their calls", "health_check_interval": "only open upstreams are probed; closed ones are watched by their calls", "health_check_details": "",
	"enable_jwt_auth": "callers are known by their keys", "litellm_jwtauth": "callers are known by their keys", "custom_auth": "callers are known by their keys", "enable_oauth2_auth": "callers are known by their keys", "oauth2_config_mappings": "callers are known by their keys", "key_management_system": "${file:PATH} reads what a secret manager mounts", "key_management_settings": "${file:PATH} reads what a secret manager mounts", "use_google_kms": "${file:PATH} reads what a secret manager mounts", "use_azure_key_vault": "${file:PATH} reads what a secret manager mounts",
	"pass_through_endpoints": "write passthrough: true for an upstream", "allowed_routes": "", "public_routes": "", "admin_only_routes": "", "ui_access_mode": "the dashboard is on the admin plane", "proxy_batch_write_at": noDatabase, "proxy_budget_rescheduler_min_time": noPrices, "use_redis_transaction_buffer": noStore,
	"proxy_config_file_path": "", "disable_master_key_return": "", "disable_retry_on_max_parallel_request_limit_error": "", "forward_client_headers_to_llm_api": "only five headers of callers are passed on", "enforce_user_param": "there are callers, but no users", "max_request_size_mb": "bodies have a fixed bound of 20 MiB", "max_response_size_mb": "answers have fixed bounds",
}
