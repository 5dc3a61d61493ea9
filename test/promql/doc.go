// Package promql reads the alert rules and the dashboard with Prometheus' own
// parser. It is a module of its own, for Prometheus is large.
package promql
