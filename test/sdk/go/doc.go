// Package sdk runs the official Go SDKs against the built gateway and the built
// mock: every scenario of scenarios_test.go with every SDK of sdks_test.go.
//
// One gateway is started for each SDK. Each scenario has routes and upstreams of
// its own, so that no breaker, park or budget is shared and all tests run side
// by side. The fault is the name of the upstream's model.
package sdk
