package docs_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"backstop/internal/schema"
	"backstop/jsonfix"
)

// jsonRows are the code spans of the rows of a marked table of json.md.
func jsonRows(t *testing.T, mark string) (rows [][]string) {
	t.Helper()
	data, err := os.ReadFile("json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "<!-- "+mark+":begin -->\n")
	table, _, ok := strings.Cut(rest, "<!-- "+mark+":end -->")
	if !ok {
		t.Fatalf("json.md has no table %s", mark)
	}
	span := regexp.MustCompile("`([^`]+)`")
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		var row []string
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			row = append(row, m[1])
		}
		rows = append(rows, row)
	}
	return rows
}

// constants are the values of a type of package jsonfix.
func constants(t *testing.T, kind string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "jsonfix", "report.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok {
			if id, ok := s.Type.(*ast.Ident); ok && id.Name == kind {
				word, _ := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
				out[word] = true
			}
		}
		return true
	})
	return out
}

func TestRepairsOfThePageAreThoseThatAreMade(t *testing.T) {
	codes := constants(t, "Code")
	for _, row := range append(jsonRows(t, "repairs"), jsonRows(t, "schema")...) {
		code, said, want := row[0], row[len(row)-2], row[len(row)-1]
		if !codes[code] {
			t.Errorf("no repair is called %s, or it is there twice", code)
		}
		delete(codes, code)
		var o jsonfix.Options
		if len(row) == 4 {
			s, err := schema.NewCache(0).Compile([]byte(row[1]))
			if err != nil {
				t.Fatal(err)
			}
			o.Schema = s
		}
		if code == "fence" {
			said = strings.ReplaceAll(said, " ", "\n")
		}
		r, err := jsonfix.Repair([]byte(said), o)
		var got bytes.Buffer
		if err == nil {
			err = json.Compact(&got, r.JSON)
		}
		noted := false
		for _, x := range r.Repairs {
			noted = noted || string(x.Code) == code
		}
		if err != nil || got.String() != want || !noted {
			t.Errorf("%s: %s becomes %s with %v (%v), want %s", code, said, &got, r.Repairs, err, want)
		}
	}
	delete(codes, "invalid-utf8")
	for code := range codes {
		t.Errorf("the page does not say what %s is", code)
	}
}

func TestRefusalsOfThePageAreThoseThatAreMade(t *testing.T) {
	reasons := constants(t, "Reason")
	for _, row := range jsonRows(t, "reasons") {
		delete(reasons, row[0])
		if r, err := jsonfix.Repair([]byte(row[1]), jsonfix.Options{}); err == nil || string(r.Reason) != row[0] {
			t.Errorf("%s gives %s (%s), want a refusal: %s", row[1], r.JSON, r.Reason, row[0])
		}
	}
	page, _ := os.ReadFile("json.md")
	for reason := range reasons {
		if !strings.Contains(string(page), "`"+reason+"`") {
			t.Errorf("the page does not say what %s is", reason)
		}
	}
}
