package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"backstop/internal/schema"
	"backstop/jsonfix"
)

// Exit codes of repair, part of the contract.
const (
	exitTruncated = 4 // repaired, but the input was cut
	exitHopeless  = 5 // not repairable
)

// mostInput bounds what is read from the standard input, and a line of it.
const mostInput = 64 << 20

type repairCmd struct {
	Schema string `placeholder:"FILE" help:"JSON Schema that the answer must follow; what can be spelled as it asks without loss is."`
	Strict bool   `help:"Refuse repairs that lose something, such as NaN or a number at the cut."`
	Report bool   `help:"Write what was done as JSON to the standard error."`
	JSONL  bool   `name:"jsonl" help:"Each line of the input is {\"id\",\"input\",\"schema\"?}; one line of the output each."`
}

// repairReport is what --report writes and a line of --jsonl holds.
type repairReport struct {
	Status      jsonfix.Status       `json:"status"`
	Repairs     []jsonfix.RepairNote `json:"repairs"`
	Truncated   bool                 `json:"truncated"`
	TruncatedAt *string              `json:"truncated_at,omitempty"`
	Reason      jsonfix.Reason       `json:"reason,omitempty"`
	Violations  []jsonfix.Violation  `json:"violations,omitempty"`
	Unvalidated string               `json:"unvalidated,omitempty"`
}

func newReport(r jsonfix.Result) repairReport {
	out := repairReport{Status: r.Status, Repairs: r.Repairs, Truncated: r.Truncated, Reason: r.Reason, Violations: r.Violations}
	if out.Repairs == nil {
		out.Repairs = []jsonfix.RepairNote{}
	}
	if r.Truncated && r.Status != jsonfix.StatusRefused {
		out.TruncatedAt = &r.TruncatedAt
	}
	return out
}

// Help is shown below the flags.
func (c *repairCmd) Help() string {
	return "Reads an answer from the standard input and writes the JSON in it. Valid JSON comes back byte for byte; nothing is made up. Exit codes: 0 fine, 4 repaired but the input was cut, 5 not repairable."
}

func (c *repairCmd) Run(s *streams) error {
	cache := schema.NewCache(0)
	var source []byte
	if c.Schema != "" {
		var err error
		if source, err = os.ReadFile(c.Schema); err != nil {
			return failf(exitUsage, "--schema %s cannot be read: %s", c.Schema, fileReason(err))
		}
	}
	o, unvalidated := c.options(cache, source)
	switch { // whoever names a schema counts on it: no answer passes for checked
	case unvalidated != "":
		return failf(exitUsage, "--schema %s cannot be used: %s", c.Schema, unvalidated)
	case c.Schema != "" && o.Schema == nil:
		return failf(exitUsage, "--schema %s cannot be used: it is empty; give a JSON Schema object", c.Schema)
	case c.JSONL:
		return c.lines(s, cache, source)
	}
	src, err := io.ReadAll(io.LimitReader(s.in, mostInput+1))
	if err != nil {
		return failf(exitFailed, "the standard input cannot be read: %s", err)
	}
	r, _ := jsonfix.Repair(src, o)
	if _, err := s.out.Write(r.JSON); err != nil {
		return failf(exitFailed, "the standard output cannot be written: %s", err)
	}
	if c.Report {
		if err := writeLine(s.err, newReport(r)); err != nil {
			return err
		}
	}
	return c.verdict(r)
}

// verdict is the exit of one document. With --report the standard error holds
// nothing but the report.
func (c *repairCmd) verdict(r jsonfix.Result) error {
	code, msg := exitFine, ""
	switch {
	case r.Status == jsonfix.StatusRefused:
		code, msg = exitHopeless, "not repairable: "+string(r.Reason)
		for _, v := range r.Violations[:min(3, len(r.Violations))] {
			msg += fmt.Sprintf("; %q: %s", v.Path, v.Reason)
		}
	case r.Truncated:
		code, msg = exitTruncated, fmt.Sprintf("repaired, but the input was cut at %q", r.TruncatedAt)
	default:
		return nil
	}
	if c.Report {
		msg = ""
	}
	return &exit{code, msg}
}

// options are those of one document. A schema that cannot be used is not
// applied; the text says why.
func (c *repairCmd) options(cache *schema.Cache, source []byte) (o jsonfix.Options, unvalidated string) {
	o = jsonfix.Options{Strict: c.Strict, MaxBytes: mostInput}
	if source = bytes.TrimSpace(source); len(source) == 0 || bytes.Equal(source, []byte("null")) {
		return o, ""
	}
	compiled, err := cache.Compile(source)
	if err != nil {
		return o, oneLine(err)
	}
	o.Schema = compiled
	return o, ""
}

// repairLine is one line of --jsonl.
type repairLine struct {
	ID json.RawMessage `json:"id"`
	repairReport
	Output *string `json:"output"`
}

// lines repairs a batch in one process, in the order of the input.
func (c *repairCmd) lines(s *streams, cache *schema.Cache, source []byte) error {
	in := bufio.NewScanner(s.in)
	in.Buffer(nil, 2*mostInput)
	out := bufio.NewWriter(s.out)
	bad, n := 0, 0
	for in.Scan() {
		n++
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		line, ok := c.line(in.Bytes(), cache, source)
		if !ok && bad == 0 {
			bad = n
		}
		if err := writeLine(out, line); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return failf(exitFailed, "the standard output cannot be written: %s", err)
	}
	if err := in.Err(); err != nil {
		return failf(exitFailed, "line %d cannot be read: %s; a line holds at most 128 MiB", n+1, err)
	}
	if bad > 0 {
		return failf(exitUsage, "line %d is not {\"id\",\"input\"}: its answer is refused as not-json", bad)
	}
	return nil
}

func (c *repairCmd) line(text []byte, cache *schema.Cache, source []byte) (line repairLine, ok bool) {
	var q struct {
		ID     json.RawMessage `json:"id"`
		Input  *string         `json:"input"`
		Schema json.RawMessage `json:"schema"`
	}
	err := json.Unmarshal(text, &q)
	line.ID = q.ID
	if len(line.ID) == 0 {
		line.ID = json.RawMessage("null")
	}
	if err != nil || q.Input == nil {
		line.repairReport = newReport(jsonfix.Result{Status: jsonfix.StatusRefused, Reason: jsonfix.NotJSON})
		return line, false
	}
	if len(q.Schema) > 0 {
		source = q.Schema
	}
	o, unvalidated := c.options(cache, source)
	r, _ := jsonfix.Repair([]byte(*q.Input), o)
	line.repairReport = newReport(r)
	line.Unvalidated = unvalidated
	if r.Status != jsonfix.StatusRefused {
		doc := string(r.JSON)
		line.Output = &doc
	}
	return line, true
}

// writeLine writes a value as one line of JSON, without HTML escapes.
func writeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return failf(exitFailed, "the report cannot be written: %s", err)
	}
	return nil
}

func fileReason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
