// Package load sends calls at a fixed rate, whatever the answers do, and
// judges what came back.
//
// The load is open-loop: call i is due at a time that was fixed before the
// run, and its latency counts from then. A server that stops answering
// cannot slow the generator down and hide its own delay.
//
//	report, err := load.Run(ctx, load.Options{Rate: 50, Duration: 10 * time.Second, URL: url, Body: body})
//	phases := report.Phases(load.Derive(report.Samples))
//	verdict := load.Judge(&load.Facts{…}, load.ArticleCold)
package load
