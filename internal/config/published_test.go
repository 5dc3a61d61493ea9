package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"backstop/internal/config/tree"
	"backstop/wire"
)

const (
	schemaFile    = "../../schema/backstop.schema.json"
	referenceFile = "../../docs/config.md"
)

func TestThePublishedSchemaIsTheOneOfTheKeys(t *testing.T) {
	golden(t, schemaFile, string(Schema()))
}

// between replaces what stands between two marks of a page.
func between(t *testing.T, page, mark, content string) string {
	t.Helper()
	begin, end := "<!-- "+mark+":begin -->\n", "<!-- "+mark+":end -->"
	i, j := strings.Index(page, begin), strings.Index(page, end)
	if i < 0 || j < i {
		t.Fatalf("the page has no marks for %s", mark)
	}
	return page[:i+len(begin)] + content + page[j:]
}

func TestTheReferencePageHasEveryKeyWithItsDefault(t *testing.T) {
	data, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	var vendors strings.Builder
	vendors.WriteString("| vendor | base URL | default model | keeps names that begin with |\n| --- | --- | --- | --- |\n")
	for _, name := range envVendors {
		v, _ := wire.Profile(name)
		fmt.Fprintf(&vendors, "| %s | %s | `%s` | `%s` |\n", v.Name, v.BaseURL, v.Model, strings.Join(v.Owns, "` `"))
	}
	page := between(t, string(data), "keys", Reference())
	page = between(t, page, "vendors", vendors.String())
	if *update {
		golden(t, referenceFile, page)
		return
	}
	if diff := cmp.Diff(page, string(data)); diff != "" {
		t.Errorf("run the test with -update (-want +got):\n%s", diff)
	}
	for _, r := range rows() {
		if r.about == "" || !strings.Contains(string(data), "`"+r.path+"`") {
			t.Errorf("%s is not explained", r.path)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := jsonschema.UnmarshalJSON(strings.NewReader(string(Schema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("backstop.json", data); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("backstop.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheSchemaAcceptsEveryGoodFileAndRefusesUnknownKeysAndWrongTypes(t *testing.T) {
	s := compiled(t)
	check := func(file string) error {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := yaml.YAMLToJSON(data)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	good, _ := filepath.Glob("testdata/good/*.yaml")
	for _, file := range good {
		if err := check(file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, name := range []string{"unknown_key", "litellm_words", "wrong_types", "words", "only_a_list"} {
		if check("testdata/bad/"+name+".yaml") == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestEveryVendorNameHasAProfile(t *testing.T) {
	for _, name := range vendorNames[1:] {
		if v, ok := wire.Profile(name); !ok || v.Name != name {
			t.Errorf("no profile for %s", name)
		}
	}
}

// holds reports whether a file sets a key of the reference.
func holds(n *tree.Node, path string) bool {
	first, rest, deeper := strings.Cut(path, ".")
	name, isList := strings.CutSuffix(first, "[]")
	next := []*tree.Node{n.Get(name)}
	if name == "NAME" {
		next = nil
		for _, p := range n.Pairs {
			next = append(next, p.Value)
		}
	}
	if isList && next[0] != nil {
		next = next[0].Items
	}
	for _, c := range next {
		if c != nil && (!deeper || holds(c, rest)) {
			return true
		}
	}
	return false
}

func TestTheFileWithEverythingSetsEveryKey(t *testing.T) {
	data, err := os.ReadFile("testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root, _, err := tree.Read("everything.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows() {
		if !holds(root, r.path) {
			t.Errorf("%s is not set", r.path)
		}
	}
}
