// Package mock is a model server that misbehaves on request.
//
// It answers like a healthy model, always the same for the same prompt, and
// breaks in every way that real model APIs break. The model name of a request
// picks the fault, so one server plays a healthy primary and a dead backup at
// the same time:
//
//	srv := httptest.NewServer(mock.New(mock.Options{}))
//	// {"model": "ok", …}          a healthy answer
//	// {"model": "hang", …}        the request is read, then silence
//	// {"model": "stall@20", …}    twenty tokens, then silence
//	// {"model": "429:retry-after=2", …}
//
// It speaks the dialects of OpenAI (chat, completions, embeddings and
// Responses), Anthropic (messages, count_tokens) and Gemini (generateContent,
// streamGenerateContent as events and as a list, countTokens), each also
// without its version in the path. A healthy answer to a prompt has the same
// text in all of them, and every fault the form that it has in that dialect:
// the error body and its words, pings for comments, a stream that lacks the
// dialect's own end.
//
// A fault is written word[:argument…][@tokens]; [Words] lists them all and
// [Parse] explains what is wrong with one. Faults can also be tied to any
// model name, when the server is made ([Options]) or while it runs
// ([Server.SetFault], POST /mock/faults). Every attempt is recorded
// ([Server.Log], GET /mock/log), with a hash in place of its key and never
// with a prompt.
//
// The server starts no goroutine, and every wait ends with the request's
// context, so it also runs inside a testing/synctest bubble.
//
// How to add a fault: one file fault_WORD.go with a function that makes its
// player, one line in the table of table.go, one row in fault_test.go.
//
// Stability: experimental until v1. Fault words are kept; new ones are added.
package mock
