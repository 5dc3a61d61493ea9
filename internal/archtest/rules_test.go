package archtest_test

import (
	"strings"
	"testing"

	"backstop/internal/archtest"
)

// sample is a file that a rule must refuse (want is part of the complaint) or
// let pass (want is empty). Imports of the house are written as m/….
type sample struct {
	name, path, source, want string
}

func check(t *testing.T, rule func(*archtest.File) []archtest.Problem, samples []sample) {
	t.Helper()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			problems := rule(parse(t, s.path, s.source))
			judge(t, problems, s.want)
		})
	}
}

func parse(t *testing.T, path, source string) *archtest.File {
	t.Helper()
	if !strings.HasPrefix(source, "package ") && !strings.HasPrefix(source, "//") {
		source = "package p\n" + source
	}
	f, err := archtest.Parse("m", path, source)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func judge(t *testing.T, problems []archtest.Problem, want string) {
	t.Helper()
	switch {
	case want == "" && len(problems) > 0:
		t.Fatalf("refused: %v", problems)
	case want != "" && len(problems) != 1:
		t.Fatalf("%d problems, want one with %q: %v", len(problems), want, problems)
	case want != "" && !strings.Contains(problems[0].String(), want):
		t.Fatalf("got %v, want %q in it", problems[0], want)
	}
}

func TestFloors(t *testing.T) {
	check(t, archtest.Floors, []sample{
		{"a driver may use the core", "backstophttp/x.go", `import _ "m"`, ""},
		{"the core may use a state machine", "x.go", `import _ "m/breaker"`, ""},
		{"the core may not use a driver", "x.go", `import _ "m/backstophttp"`, "imports go down only"},
		{"a state machine may not use the core", "budget/x.go", `import _ "m"`, "imports go down only"},
		{"a state machine may not use its neighbour", "budget/x.go", `import _ "m/limit"`, "on one floor"},
		{"a dialect room may use the hub", "wire/openai/x.go", `import _ "m/wire"`, ""},
		{"the hub may not use a dialect room", "wire/x.go", `import _ "m/wire/openai"`, "on one floor"},
		{"dialect rooms may not use each other", "wire/openai/x.go", `import _ "m/wire/gemini"`, "on one floor"},
		{"neighbours on floor 4 may not use each other", "internal/server/x.go", `import _ "m/internal/observe"`, "on one floor"},
		{"a folder of a room belongs to it", "internal/server/tree/x.go", `import _ "m/internal/server/value"`, ""},
		{"a folder of a room has the floor of the room", "internal/config/tree/x.go", `import _ "m/internal/app"`, "imports go down only"},
		{"a new folder must be entered", "shiny/x.go", ``, "no room of the house"},
		{"an import of a folder that is no room is refused", "cmd/backstop/x.go", `import _ "m/shiny"`, "no room of the house"},
		{"only the top uses side rooms", "internal/server/x.go", `import _ "m/mock"`, "only floors 5 and 6"},
		{"the command may use side rooms", "cmd/backstop/x.go", `import _ "m/mock"`, ""},
		{"a side room stays below the process", "mock/x.go", `import _ "m/internal/app"`, "drivers at most"},
		{"what tests share is not for the product", "cmd/backstop/x.go", `import _ "m/internal/testkit"`, "tests only"},
		{"tests may use what tests share", "budget/x_test.go", `import _ "m/internal/testkit"`, ""},
		{"tests may use side rooms", "backstophttp/x_test.go", `import _ "m/mock"`, ""},
		{"tests may use their neighbours", "budget/x_test.go", `import _ "m/limit"`, ""},
		{"tests may not use the floors above", "budget/x_test.go", `import _ "m/internal/app"`, "belongs further up"},
		{"the standard library is no room", "budget/x.go", `import _ "sync"`, ""},
	})
}

func TestLibraries(t *testing.T) {
	check(t, archtest.Libraries, []sample{
		{"gjson may be used where bytes are read", "wire/openai/x.go", `import _ "github.com/tidwall/gjson"`, ""},
		{"gjson may not be used in the core", "x.go", `import _ "github.com/tidwall/gjson"`, "use the standard library"},
		{"YAML stays in config", "internal/server/x.go", `import _ "github.com/goccy/go-yaml"`, "use the standard library"},
		{"a folder of config is config", "internal/config/tree/x.go", `import _ "github.com/goccy/go-yaml/ast"`, ""},
		{"an unknown library is refused", "cmd/backstop/x.go", `import _ "example.com/left/pad"`, "enter it"},
		{"a name with the same beginning is another library", "wire/x.go", `import _ "github.com/tidwall/gjson2"`, "enter it"},
		{"tests have their own libraries", "budget/x_test.go", `import _ "pgregory.net/rapid"`, ""},
		{"but not every library", "budget/x_test.go", `import _ "github.com/stretchr/testify/assert"`, "enter it"},
		{"test libraries are for tests", "budget/x.go", `import _ "pgregory.net/rapid"`, "enter it"},
	})
}

func TestForbidden(t *testing.T) {
	for _, p := range []string{"text/template", "plugin", "unsafe", "os/exec", "encoding/gob", "math/rand", "net/rpc"} {
		check(t, archtest.Forbidden, []sample{{p + " is refused everywhere", "cmd/backstop/x.go", `import _ "` + p + `"`, "import of " + p}})
	}
	check(t, archtest.Forbidden, []sample{
		{"a test may run commands", "cmd/backstop/x_test.go", `import _ "os/exec"`, ""},
		{"a test may not be unsafe", "sse/x_test.go", `import _ "unsafe"`, "import of unsafe"},
		{"the second rand is fine", "cmd/backstop/x.go", `import _ "math/rand/v2"`, ""},
	})
}

func TestPure(t *testing.T) {
	const now = "import \"time\"\nvar _ = time.Now()"
	check(t, archtest.Pure, []sample{
		{"the core may not ask for the time", "x.go", now, "time.Now in a pure room"},
		{"nor a state machine", "breaker/x.go", now, "time.Now in a pure room"},
		{"nor the hub", "wire/x.go", now, "time.Now in a pure room"},
		{"nor a dialect room", "wire/gemini/x.go", now, "time.Now in a pure room"},
		{"nor the local tier", "local/x.go", now, "time.Now in a pure room"},
		{"nor under another name", "x.go", "import clock \"time\"\nvar _ = clock.Since", "time.Since in a pure room"},
		{"nor wait", "x.go", "import \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep in a pure room"},
		{"the live driver may", "backstophttp/x.go", now, ""},
		{"the watchdog may", "internal/upstream/x.go", now, ""},
		{"a test of the core may", "x_test.go", now, ""},
		{"durations are fine", "x.go", "import \"time\"\nconst _ = time.Second", ""},
		{"the core starts no goroutine", "x.go", "func f() { go f() }", "go statement"},
		{"a driver may", "sim/x.go", "func f() { go f() }", ""},
		{"the core may not draw from the global source", "x.go", "import \"math/rand/v2\"\nvar _ = rand.IntN(3)", "rand.IntN in a pure room"},
		{"it may draw from a seeded one", "x.go", "import \"math/rand/v2\"\nvar _ = rand.New(rand.NewPCG(1, 2))", ""},
		{"nor from the system's", "x.go", `import _ "crypto/rand"`, "crypto/rand in a pure room"},
	})
}

func TestProcess(t *testing.T) {
	for _, use := range []string{"Args", "Exit", "Getenv", "Environ", "LookupEnv", "Stdout"} {
		source := "import \"os\"\nvar _ = os." + use
		check(t, archtest.Process, []sample{
			{"os." + use + " is for the command", "cmd/backstop/x.go", source, ""},
			{"os." + use + " is not for others", "internal/app/x.go", source, "os." + use + " outside"},
			{"os." + use + " is fine in a test", "internal/app/x_test.go", source, ""},
		})
	}
	check(t, archtest.Process, []sample{
		{"signals are for the command", "internal/app/x.go", "import \"os/signal\"\nvar _ = signal.Notify", "os/signal.Notify outside"},
		{"a log that exits is an exit", "internal/app/x.go", "import \"log\"\nvar _ = log.Fatal", "log.Fatal outside"},
		{"files are fine", "internal/config/x.go", "import \"os\"\nvar _ = os.ReadFile", ""},
		{"a field called Exit is fine", "internal/app/x.go", "var x struct{ Exit int }\nvar _ = x.Exit", ""},
	})
}

func TestGlobals(t *testing.T) {
	one := func(f *archtest.File) []archtest.Problem { return archtest.Globals([]*archtest.File{f}) }
	check(t, one, []sample{
		{"a counter is state", "x.go", "var n int", "package variable n"},
		{"a pointer is state", "x.go", "type T struct{ n int }\nvar x = &T{1}", "package variable x"},
		{"a mutex is state", "x.go", "import \"sync\"\nvar mu sync.Mutex", "package variable mu"},
		{"a pool is state", "x.go", "import \"sync\"\nvar pool = sync.Pool{New: nil}", "package variable pool"},
		{"an empty map waits to be filled", "x.go", "var seen = map[string]int{}", "package variable seen"},
		{"a call that returns anything is state", "x.go", "func f() *int { return nil }\nvar x = f()", "package variable x"},
		{"two of one call are two", "x.go", "func f() (int, int)\nvar _, b = f()", "package variable b"},
		{"a function in a variable can be exchanged", "x.go", "var f = func() {}", "package variable f"},
		{"an error is fine", "x.go", "import \"errors\"\nvar ErrX = errors.New(\"x\")", ""},
		{"a map is a table", "x.go", "var m = map[string]int{\"a\": 1}", ""},
		{"a named map is a table", "x.go", "type T map[string]int\nvar m = T{\"a\": 1}", ""},
		{"a slice is a table", "x.go", "var s = []string{\"a\"}", ""},
		{"bytes are a table", "x.go", "var b = []byte(\"x\")", ""},
		{"a table may be computed", "x.go", "func f() []int { return nil }\nvar x = f()", ""},
		{"a table may be computed in place", "x.go", "var x = func() map[string]int { return nil }()", ""},
		{"part of a table is one", "x.go", "var a = []int{1}\nvar b = a[:1]", ""},
		{"what never changes may be made anywhere", "x.go", "func f() *prometheus.Desc { return nil }\nvar x = f()", ""},
		{"a compiled expression is a table", "x.go", "import \"regexp\"\nvar x = regexp.MustCompile(``)", ""},
		{"an embedded file is fine", "x.go", "import _ \"embed\"\n//go:embed a.txt\nvar text string", ""},
		{"a proof is fine", "x.go", "type T int\nvar _ any = T(0)", ""},
		{"a local variable is none", "x.go", "func f() { var n int; _ = n }", ""},
		{"a test may have its own", "x_test.go", "var n int", ""},
	})
}

func TestWords(t *testing.T) {
	check(t, archtest.Words, []sample{
		{"a type", "x.go", "type Provider struct{}", "the word here is upstream, not provider"},
		{"a plural in the middle of a field", "x.go", "type T struct{ allBackendsUp bool }", "not backend"},
		{"a parameter", "x.go", "func f(tenantID int) {}", "not tenant"},
		{"a result", "x.go", "func f() (target int) { return }", "not target"},
		{"a receiver", "x.go", "type T int\nfunc (session T) f() {}", "not session"},
		{"a method", "x.go", "type T int\nfunc (T) StartCooldown() {}", "not cooldown"},
		{"a method of an interface", "x.go", "type T interface{ Deployments() int }", "not deployment"},
		{"a parameter of a function literal", "x.go", "func f() { _ = func(hop int) {} }", "not hop"},
		{"a constant", "x.go", "const maxHops = 1", "not hop"},
		{"a package variable", "x.go", "var userTable = []int{1}", "not user"},
		{"an acronym before the word", "x.go", "type HTTPClient struct{}", "not client"},
		{"a word with underscores", "x.go", "const rate_limit_channel = 1", "not channel"},
		{"a local variable explains itself", "x.go", "func f() { client := 1; _ = client }", ""},
		{"part of another word is fine", "x.go", "func userland(sessional, abandoned, bandwidth, formatted int) {}", ""},
		{"JSON Schema is called so", "jsonfix/x.go", "type Schema struct{}", ""},
		{"fmt.Formatter is called so", "secret/x.go", "type T int\nfunc (T) Format() {}", ""},
		{"a test may quote anything", "x_test.go", "type Provider struct{}", ""},
	})
}

func TestSplit(t *testing.T) {
	for ident, want := range map[string]string{
		"HTTPClientID_v2": "http client id v", "x": "x", "": "", "__": "", "JSON": "json",
		"parseURLs": "parse ur ls", "aB": "a b", "Größe2Max": "größe max",
	} {
		if got := strings.Join(archtest.Split(ident), " "); got != want {
			t.Errorf("Split(%q) = %q, want %q", ident, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	lines := func(n int) string { return "package p\n" + strings.Repeat("\n", n-1) }
	check(t, archtest.Shape, []sample{
		{"500 lines are the most", "x.go", lines(500), ""},
		{"501 lines are too many", "x.go", lines(501), "501 lines, most 500"},
		{"a test may have 800", "x_test.go", lines(800), ""},
		{"and no more", "x_test.go", lines(801), "801 lines, most 800"},
		{"a file called after nothing", "limit/rate_utils.go", "", `"utils" names nothing`},
		{"a test file called after nothing", "limit/helper_test.go", "", `"helper" names nothing`},
		{"a folder called after nothing", "internal/common/x.go", "", `"common" names nothing`},
		{"five parameters can be called", "x.go", "func f(a, b int, c, d, e string) {}", ""},
		{"six cannot", "x.go", "func f(a, b int, c, d, e, g string) {}", "takes 6 parameters"},
	})
	if notes := archtest.Long(parse(t, "x.go", lines(301))); len(notes) != 1 {
		t.Errorf("301 lines are not noted: %v", notes)
	}
	if notes := archtest.Long(parse(t, "x.go", "func f() {"+strings.Repeat("\n", 80)+"}")); len(notes) != 1 {
		t.Errorf("a function of 80 lines is not noted: %v", notes)
	}
}

func TestDocumented(t *testing.T) {
	const example = "package p_test\nfunc Example() {}"
	for _, tt := range []struct {
		name, path, source, test string
		want                     string
	}{
		{"no package comment", "internal/app/x.go", "package p", example, "has no comment"},
		{"an internal package needs no promise", "internal/app/x.go", "// Package p is.\npackage p", "", ""},
		{"a public package without a promise", "limit/x.go", "// Package p is.\npackage p", example, "how stable"},
		{"a public package with one", "limit/x.go", "// Package p is.\n//\n// Stability: stable.\npackage p", example, ""},
		{"a public package without an Example", "limit/x.go", "// Package p is.\n//\n// Stability: stable.\npackage p", "package p_test", "no Example"},
		{"an exported function without a comment", "limit/x.go", "// Package p is. Stability: stable.\npackage p\nfunc F() {}", example, "exported F"},
		{"an exported type without a comment", "limit/x.go", "// Package p is. Stability: stable.\npackage p\ntype T int", example, "exported T"},
		{"an exported constant without a comment", "limit/x.go", "// Package p is. Stability: stable.\npackage p\nconst C = 1", example, "exported C"},
		{"a comment over a group is for all", "limit/x.go", "// Package p is. Stability: stable.\npackage p\n// Some.\nconst (\n\tC = 1\n\tD = 2\n)", example, ""},
		{"a comment behind a constant is one", "limit/x.go", "// Package p is. Stability: stable.\npackage p\nconst C = 1 // one", example, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := []*archtest.File{parse(t, tt.path, tt.source)}
			if tt.test != "" {
				files = append(files, parse(t, strings.TrimSuffix(tt.path, ".go")+"_test.go", tt.test))
			}
			judge(t, archtest.Documented(files), tt.want)
		})
	}
}

func TestClean(t *testing.T) {
	for _, tt := range []struct{ name, path, body, want string }{
		{"an unfinished word in code", "x.go", "// TO" + "DO later", "unfinished word"},
		{"another one in the Makefile", "Makefile", "# FIX" + "ME", "unfinished word"},
		{"prose may speak of it", "CONTRIBUTING.md", "no TO" + "DO in code", ""},
		{"a longer word is another", "x.go", "const TODOS = 1", ""},
		{"a path of one machine", "README.md", "see /wo" + "rk/main", "absolute path"},
		{"a path of one machine in quotes", "x.go", `"/tm` + `p/x"`, "absolute path"},
		{"a path below a variable is relative", ".ci/run", `$dir/wo` + `rk/x and a.b/tm` + `p/x`, ""},
		{"a registry", ".ci/run", "export GOPROXY=" + "https://example.org", "registry"},
		{"a lock file with addresses", "package-lock.json", `"resolved": ` + `"https://example.org/x.tgz"`, "registry"},
		{"a registry by name", "docs/x.md", "from registry.npmjs" + ".org", "registry"},
		{"a binary is not read", "x.go", "\x00 TO" + "DO", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			judge(t, archtest.Clean(archtest.Text{Path: tt.path, Body: tt.body}), tt.want)
		})
	}
}

func TestAModuleOfItsOwnIsLeftToItself(t *testing.T) {
	f := parse(t, "test/rivals/x.go", "import (\n_ \"unsafe\"\n_ \"example.com/x\"\n)\nvar n int\ntype Provider int")
	f.Apart = true
	for name, rule := range rules {
		if problems := rule(f); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if problems := archtest.Globals([]*archtest.File{f}); len(problems) > 0 {
		t.Error(problems)
	}
}
