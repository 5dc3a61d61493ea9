package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// row is one line of the reference page: a key with its full path.
type row struct{ path, card, about string }

// parent is a taker with keys below it.
type parent interface {
	// below returns the keys and what stands between them and the parent.
	below() (mapping, string)
}

func (m mapping) below() (mapping, string)    { return m, "" }
func (t trialTaker) below() (mapping, string) { return nil, "" }
func (t noted) below() (mapping, string)      { return t.mapping, "" }
func (l localTaker) below() (mapping, string) { return localTaker{new(tierSpec)}.keys(), "" }
func (t list) below() (mapping, string)       { return itemKeys(t.item), "[]" }
func (t named) below() (mapping, string)      { return itemKeys(t.item), ".NAME" }

// itemKeys are the keys of an entry of a list or of a named part.
func itemKeys(item taker) mapping {
	switch item := item.(type) {
	case mapping:
		return item
	case shared:
		return item.mapping
	}
	return nil
}

// rows lists every key of the file in the order of the tables.
func rows() []row { return listRows("", new(fileSpec).keys()) }

func listRows(prefix string, m mapping) []row {
	var out []row
	for _, k := range m {
		path := prefix + k.name
		out = append(out, row{path, k.card, k.about})
		if _, listed := k.value.(keep); listed {
			continue // the same keys stand below upstreams
		}
		if p, ok := k.value.(parent); ok {
			keys, between := p.below()
			out = append(out, listRows(path+between+".", keys)...)
		}
	}
	return out
}

// Reference returns the table of every key with its default, in Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString("| key | default | what it says |\n| --- | --- | --- |\n")
	for _, r := range rows() {
		card := r.card
		switch card {
		case "":
			card = "" // a group: its keys have the defaults
		case "none", "required", "random", "unknown", "as asked", "system roots", "the first route":
		default:
			card = "`" + card + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.path, card, r.about)
	}
	return b.String()
}

// span writes a duration as an operator would: 4500ms, 10s, 10m, 24h.
func span(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	case d%time.Minute == 0 && d >= 10*time.Minute:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	case d%time.Second == 0 || d >= 10*time.Second && d%(100*time.Millisecond) == 0:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
	case d%time.Millisecond == 0:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + "ms"
	}
	return d.String()
}

func percent(f float64) string { return strconv.FormatFloat(f*100, 'f', -1, 64) + "%" }
