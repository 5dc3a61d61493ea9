package openai

// delta is what one choice of a chunk brings.
type delta struct {
	index   int
	finish  span // the finish reason with its quotes; zero = none yet
	content span // text, with its quotes; zero = none
	bytes   int  // content bytes
	token   bool // something to show for: text, reasoning, refusal, tool call, sound
	said    bool // something other than reasoning and refusal
	tool    bool // a tool call begins or goes on
	other   bool // something that is neither text, reasoning nor a tool call
	refusal bool // a piece of a refusal
	role    bool // it says whose message it is
	lost    bool // something that has no form in the caller's dialect
}

// speak takes a piece of content text, or content of another form.
func (d *delta) speak(b []byte, s span) {
	if d.say(b, s); s.filled(b) {
		d.content = s
	} else if holds(b, s, '[') {
		d.other = true
	}
}

// aside takes a piece of the answer that is not its text.
func (d *delta) aside(b []byte, s span) {
	before := d.bytes
	d.say(b, s)
	d.other = d.other || d.bytes > before
}

// say takes a piece of the answer itself.
func (d *delta) say(b []byte, s span) {
	before := d.bytes
	d.text(b, s)
	d.said = d.said || d.bytes > before
}

// text takes a piece of text, or a list of parts that is not empty.
func (d *delta) text(b []byte, s span) {
	switch {
	case s.filled(b):
		d.bytes += decodedSize(s.inner(b))
		d.token = true
	case s.is(b, '['):
		if e := inArray(b, s); e.next() {
			d.bytes += s.to - s.from - 2 // at least one: the part
			d.token = true
		}
	}
}
