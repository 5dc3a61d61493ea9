package wire

import "strings"

// Message is a whole answer in the words of the hub.
type Message struct {
	ID      string
	Model   string
	Created int64 // Unix seconds, 0 = not said
	Choices []Choice
	Usage   Usage
	Lost    Lost
	Asked   []byte // of [Head], only for EncodeBody
}

// Joined is the text of what a tool gave back, or of an instruction, where a
// dialect has one string for it. Its pieces stay apart: "12" and "3" are not
// "123".
func Joined(parts []Part) string {
	var list []string
	for i := range parts {
		if parts[i].Kind == PartText {
			list = append(list, parts[i].Text)
		}
	}
	return strings.Join(list, "\n")
}

// strung makes one text, and one thought, of those that follow each other, as it
// is in a stream: many a caller reads the first text and no other.
func (m *Message) strung() {
	for i := range m.Choices {
		parts := m.Choices[i].Parts
		list := parts[:0]
		for len(parts) > 0 {
			n := 1
			for n < len(parts) && parts[0].goesOn(&parts[n]) {
				n++
			}
			one := parts[0]
			if n > 1 {
				var all strings.Builder
				for j := range parts[:n] {
					all.WriteString(parts[j].Text)
				}
				one.Text = all.String()
			}
			list, parts = append(list, one), parts[n:]
		}
		m.Choices[i].Parts = list
	}
}

// goesOn reports whether another part goes on with the text of this one.
func (p *Part) goesOn(next *Part) bool {
	words := p.Kind == PartText || p.Kind == PartReasoning
	return words && p.Kind == next.Kind && p.Proof == "" && next.Proof == "" && !p.Sealed && !next.Sealed
}

// Choice is one of the answers.
type Choice struct {
	Index  int
	Parts  []Part
	Ending Ending
	Stop   string // the stop sequence that ended it, EndSequence only
}

// Ending says why an answer ended.
type Ending string

// The endings.
const (
	EndStop     Ending = "stop"
	EndSequence Ending = "stop_sequence"
	EndLength   Ending = "length"
	EndContext  Ending = "context" // the context window is full
	EndTools    Ending = "tools"
	EndRefusal  Ending = "refusal" // a filter, or the model refuses
	EndPause    Ending = "pause"   // the caller is to let the model go on
)

// Usage counts tokens, -1 = not reported. Input includes Cached and Stored;
// Output includes Reasoning.
type Usage struct {
	Input     int
	Output    int
	Cached    int // read from a cache
	Stored    int // written to a cache
	Reasoning int
}

// NoUsage is the usage of which nothing was reported.
func NoUsage() Usage { return Usage{-1, -1, -1, -1, -1} }

// Reported reports whether anything was.
func (u *Usage) Reported() bool { return u.Input >= 0 || u.Output >= 0 }

// Merge takes over what a later report says.
func (u *Usage) Merge(v Usage) {
	for _, f := range [...]struct {
		to   *int
		from int
	}{{&u.Input, v.Input}, {&u.Output, v.Output}, {&u.Cached, v.Cached}, {&u.Stored, v.Stored}, {&u.Reasoning, v.Reasoning}} {
		if f.from >= 0 {
			*f.to = f.from
		}
	}
}

// DeltaKind says what a delta brings.
type DeltaKind uint8

// The deltas, and the fields of Delta that each uses besides Choice.
const (
	DeltaStart     DeltaKind = iota + 1 // ID, Model, Created
	DeltaText                           // Part, Text
	DeltaReasoning                      // Part, Text
	DeltaProof                          // Part, Text: the proof of the reasoning; Sealed
	DeltaRefusal                        // Part, Text
	DeltaCall                           // Part, ID, Name: a tool call begins
	DeltaArguments                      // Part, Text
	DeltaPartEnd                        // Part: nothing more comes for it
	DeltaFinish                         // Ending, Stop
	DeltaUsage                          // Usage so far
	DeltaDone                           // the stream said that it is over
	DeltaLost                           // Name: what the hub has no word for, see [Lost]
)

// Delta is what one step of a stream brings.
type Delta struct {
	Kind   DeltaKind
	Choice int
	// Part numbers the parts of a choice from 0 in the order in which they
	// began. Deltas of several parts may alternate.
	Part int
	Text string

	ID      string // of the answer or of the tool call
	Name    string
	Model   string
	Created int64
	Sealed  bool

	Ending Ending
	Stop   string
	Usage  Usage
}
