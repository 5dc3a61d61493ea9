package mock

// Word describes one fault.
type Word struct {
	Word    string `json:"word"`
	Example string `json:"example"` // parses
	About   string `json:"about"`   // one line
}

// entry is a line of the fault table.
type entry struct {
	Word
	make   func(s spec) (player, error)
	counts bool // takes @tokens
	nests  bool // its arguments end in another fault
}

// table lists every fault; each is made in a file of its own.
var table = []entry{
	{Word: Word{"ok", "ok", "a healthy answer"}, make: okFault},

	{Word: Word{"hang", "hang", "reads the request, then silence"}, make: hangFault},
	{Word: Word{"slow", "slow:20s", "the first token is late; a stream has its header and role at once"}, make: slowFault},
	{Word: Word{"slowhead", "slowhead:2s", "the response header is late"}, make: slowHeadFault},
	{Word: Word{"role-only", "role-only", "header and role, then silence"}, make: roleOnlyFault},
	{Word: Word{"keepalive", "keepalive:1s", "comments (Anthropic: pings) for ever, no token; a plain body: blank lines for ever"}, make: keepaliveFault},
	{Word: Word{"blanklines", "blanklines:10s", "a queue: blank lines (stream: comments) for a while, then a healthy answer"}, make: blankLinesFault},
	{Word: Word{"stall", "stall@20", "tokens, then silence"}, make: stallFault, counts: true},
	{Word: Word{"drip", "drip:2s", "one token a time"}, make: dripFault},

	{Word: Word{"cut", "cut@40", "tokens, then the connection is closed in the middle of a chunk"}, make: cutFault, counts: true},
	{Word: Word{"reset", "reset", "the connection is reset (RST) before any header; reset@5, after some tokens"}, make: resetFault, counts: true},
	{Word: Word{"halfclose", "halfclose:10s", "a healthy answer, then the sending side is closed and reading goes on for so long"}, make: halfCloseFault},
	{Word: Word{"nodone", "nodone", "a complete stream without its end mark"}, make: noDoneFault},
	{Word: Word{"nofinish", "nofinish@5", "tokens, then a clean end without a finish reason"}, make: noFinishFault, counts: true},

	{Word: Word{"status", "status:503:retry-after=2", "an error answer; options retry-after= retry-after-ms= retry-after-date= code= type= param= message= quota; 400 to 599 alone is short for it"}, make: statusFault},
	{Word: Word{"busy", "busy", "503 with a string as its error"}, make: busyFault},
	{Word: Word{"context", "context", "400: the prompt is too long"}, make: contextFault},
	{Word: Word{"param", "param:top_k", "400 that names a parameter, while the request has it"}, make: paramFault},
	{Word: Word{"nostream", "nostream", "400 that names stream, for streams"}, make: noStreamFault},
	{Word: Word{"streamonly", "streamonly", "400 that names stream, for plain calls"}, make: streamOnlyFault},

	{Word: Word{"empty", "empty", "200 without a byte or an event"}, make: emptyFault},
	{Word: Word{"html", "html", "200 and an HTML page; html:502 with that status"}, make: htmlFault},
	{Word: Word{"error-in-200", "error-in-200", "200 and an error object as body; error-in-200:1305 with that code"}, make: errorIn200Fault},
	{Word: Word{"error-first", "error-first", "a stream whose first event after the role is an error; a plain call as error-in-200"}, make: errorFirstFault},
	{Word: Word{"error-mid", "error-mid@3", "tokens, then an error event and a clean end; a plain call as error-in-200"}, make: errorMidFault, counts: true},
	{Word: Word{"malformed", "malformed@10", "an event of broken JSON after some tokens, then it goes on; malformed:all, only such events from there; a plain body is broken"}, make: malformedFault, counts: true},
	{Word: Word{"bigevent", "bigevent:1MiB", "all text in one event of that size"}, make: bigEventFault},
	{Word: Word{"usage-none", "usage-none", "a healthy answer without usage"}, make: usageNoneFault},

	{Word: Word{"thinking", "thinking@8", "tokens of reasoning, then a healthy answer"}, make: thinkingFault, counts: true},
	{Word: Word{"blank", "blank", "a complete answer without content"}, make: blankFault},
	{Word: Word{"fenced", "fenced", "JSON inside a Markdown fence"}, make: fencedFault},
	{Word: Word{"prose", "prose", "JSON with a sentence before and after it"}, make: proseFault},
	{Word: Word{"truncated", "truncated", "JSON that stops in the middle, finish reason length; truncated:stop claims to be complete"}, make: truncatedFault},
	{Word: Word{"badjson", "badjson", "JSON with the mistakes of models: bare keys, trailing commas, single quotes; badjson:body breaks the answer itself"}, make: badJSONFault},
	{Word: Word{"refusal", "refusal", "the model declines; refusal:filter, a content filter; refusal:400, a policy error"}, make: refusalFault},
	{Word: Word{"toolcall", "toolcall", "a call of the first tool offered; toolcall:truncated stops inside its arguments"}, make: toolCallFault},

	{Word: Word{"flap", "flap:60s", "good for so long, then bad for as long, and so on; flap:60s:hang, which fault"}, make: flapFault, nests: true},
	{Word: Word{"p", "p:0.25:503", "the fault with that probability, from the server's seed"}, make: chanceFault, nests: true},
}

// Words lists every fault, with an example that parses.
func Words() []Word {
	words := make([]Word, len(table))
	for i := range table {
		words[i] = table[i].Word
	}
	return words
}

// find looks a word up; a bare error status is short for status.
func find(word string) *entry {
	if code := statusCode(word); code != 0 {
		word = "status"
	}
	for i := range table {
		if table[i].Word.Word == word {
			return &table[i]
		}
	}
	return nil
}
