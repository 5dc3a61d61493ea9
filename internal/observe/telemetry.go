package observe

import (
	"slices"
	"strings"
)

// Telemetry says what is sent to an OpenTelemetry collector over OTLP/HTTP.
// Where to and how is read from the standard OTEL_* variables by the exporters.
type Telemetry struct{ Traces, Metrics bool }

func (t Telemetry) on() bool { return t.Traces || t.Metrics }

// TelemetryFrom reads from the environment whether telemetry is wanted: it is
// off unless an endpoint is set. Warnings say what of the environment is not
// followed, in words for a log.
func TelemetryFrom(env func(name string) string) (t Telemetry, warnings []string) {
	general := env("OTEL_EXPORTER_OTLP_ENDPOINT") != ""
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return t, nil
	}
	for _, signal := range []struct {
		name string
		on   *bool
	}{{"TRACES", &t.Traces}, {"METRICS", &t.Metrics}} {
		if !general && env("OTEL_EXPORTER_OTLP_"+signal.name+"_ENDPOINT") == "" {
			continue
		}
		name := "OTEL_" + signal.name + "_EXPORTER"
		switch which := env(name); which {
		case "", "otlp":
			*signal.on = true
		case "none":
			continue
		default:
			warnings = append(warnings, name+" names an exporter that is not built in: only otlp and none are known; nothing is sent")
			continue
		}
		form := env("OTEL_EXPORTER_OTLP_" + signal.name + "_PROTOCOL")
		if form == "" {
			form = env("OTEL_EXPORTER_OTLP_PROTOCOL")
		}
		if form != "" && form != "http/protobuf" && !slices.Contains(warnings, otherForm) {
			warnings = append(warnings, otherForm)
		}
	}
	return t, warnings
}

const otherForm = "telemetry is sent as http/protobuf, which is the only form built in; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf and the collector's HTTP port (4318)"
