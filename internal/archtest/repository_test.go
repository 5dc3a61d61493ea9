package archtest_test

import (
	"testing"

	"backstop/internal/archtest"
)

func load(t *testing.T) *archtest.Tree {
	t.Helper()
	tree, err := archtest.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Go) < 10 {
		t.Fatalf("only %d Go files were found", len(tree.Go))
	}
	return tree
}

var rules = map[string]func(*archtest.File) []archtest.Problem{
	"imports go down only":                          archtest.Floors,
	"libraries come in where the house says":        archtest.Libraries,
	"forbidden packages stay outside":               archtest.Forbidden,
	"pure rooms know no clock, chance or goroutine": archtest.Pure,
	"only the command touches the process":          archtest.Process,
	"one word a thing":                              archtest.Words,
	"files are short and have telling names":        archtest.Shape,
}

func TestTheRepositoryKeepsTheRulesOfTheHouse(t *testing.T) {
	tree := load(t)
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, f := range tree.Go {
				report(t, rule(f))
			}
		})
	}
	t.Run("package variables are errors and tables", func(t *testing.T) { report(t, archtest.Globals(tree.Go)) })
	t.Run("packages are documented", func(t *testing.T) { report(t, archtest.Documented(tree.Go)) })
	t.Run("files are finished and true on every machine", func(t *testing.T) {
		for _, text := range tree.Text {
			report(t, archtest.Clean(text))
		}
	})
	for _, f := range tree.Go {
		for _, note := range archtest.Long(f) {
			t.Log(note)
		}
	}
}

func report(t *testing.T, problems []archtest.Problem) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}
