// Command crash is the crash test of the whole program: a gateway with its
// default settings in front of upstreams that break, judged by what the caller
// got and by what the upstreams saw. Nothing inside the gateway is looked at.
//
// The first part has the sixteen scenarios of the public benchmark
// failoverbench under its numbers:
//
//	S01 429 with Retry-After, once         S09 a stream stalls after 20 of 60 tokens
//	S02 429 without Retry-After, for ever  S10 one malformed event in a stream
//	S03 500 once                           S11 a whole stream without [DONE]
//	S04 503 for ever                       S12 context length exceeded
//	S05 connection reset before a header   S13 content filter
//	S06 silence                            S14 as S08, and the backup refuses a prefill
//	S07 first token after 20 s             S15 the primary is down for 60 s, then well
//	S08 a stream is cut after 40 of 60     S16 as S04; what the caller is told of it
//
// The configuration is one primary, one backup, the defaults, and the two keys
// that two scenarios want declared: retry.wait for S01, context for S12. Time
// limits are tighter than the benchmark's where the defaults promise more.
//
// A verdict is one of
//
//	pass     the caller got the whole answer (S13: the refusal), conduct clean
//	partial  the same, but an advisory check failed
//	safe     no answer, but a typed error in time and nothing false
//	fail     a hang, part of an answer passed off as whole, or bad conduct
//
// The second part, X01 and on, has what the benchmark leaves out, judged in
// the same words. A storm of stalling streams and the cost of a stream are
// figures; -streams adds thousands of slow streams for two minutes.
//
//	go run ./test/crash            the real limits, about four minutes
//	go run ./test/crash -fast      a tenth of all times; what the test runs
package main
