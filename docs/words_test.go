package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// enum is a part of the published JSON Schema, as far as words go.
type enum struct {
	Enum                 []string         `json:"enum"`
	Properties           map[string]*enum `json:"properties"`
	AnyOf                []*enum          `json:"anyOf"`
	AdditionalProperties json.RawMessage  `json:"additionalProperties"`
	Items                *enum            `json:"items"`
	Defs                 map[string]*enum `json:"$defs"`
}

// words collects the words of every key below a path.
func (e *enum) words(path string, into map[string][]string) {
	if e == nil {
		return
	}
	for _, w := range e.Enum {
		if !slices.Contains(into[path], w) {
			into[path] = append(into[path], w)
		}
	}
	for _, a := range e.AnyOf {
		a.words(path, into)
	}
	e.Items.words(path+"[]", into)
	for name, p := range e.Properties {
		p.words(strings.TrimPrefix(path+"."+name, "."), into)
	}
}

// The words of docs/config.md are those of the published schema; vendors have a
// page of their own, and the trial of a breaker has the breaker's words.
func TestWordsOfTheConfigurationAreThoseOfTheSchema(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "schema", "backstop.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var top enum
	if err := json.Unmarshal(data, &top); err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	top.words("", known)
	top.Defs["upstream"].words("upstreams.NAME", known)
	delete(known, "upstreams.NAME.vendor")
	delete(known, "upstreams.NAME.breaker.trial.probe")
	_, table, _ := strings.Cut(read(t, "docs/config.md").text, "<!-- words:begin -->")
	table, _, _ = strings.Cut(table, "<!-- words:end -->")
	for _, row := range rows(page{text: table})[2:] {
		cells := strings.SplitN(strings.Trim(row, "| "), " | ", 2)
		key := strings.Trim(cells[0], "`")
		listed, _, _ := strings.Cut(cells[1], ":")
		if got, want := code(listed), slices.Sorted(slices.Values(known[key])); !slices.Equal(got, want) {
			t.Errorf("docs/config.md: %s takes %v, and the page says %v", key, want, got)
		}
		delete(known, key)
	}
	for key := range known {
		t.Errorf("docs/config.md does not say which words %s takes", key)
	}
}
