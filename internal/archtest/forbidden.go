package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// forbidden are imports that no room needs, and what to use instead. Tests
// may run commands.
var forbidden = map[string]string{
	"text/template": "substitute fixed placeholders, JSON-escaped",
	"plugin":        "link it in",
	"unsafe":        "there is a safe way that is fast enough",
	"os/exec":       "the gateway runs no commands; only tests may",
	"encoding/gob":  "use JSON",
	"math/rand":     "use math/rand/v2, seeded where it decides something",
	"net/rpc":       "use net/http",
}

// Forbidden: packages that stay outside.
func Forbidden(f *File) (problems []Problem) {
	if f.Apart {
		return nil
	}
	for _, spec := range f.Syntax.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		if instead := forbidden[p]; instead != "" && !(p == "os/exec" && f.Test()) {
			problems = append(problems, f.Problem(spec.Pos(), "import of %s: %s", p, instead))
		}
	}
	return problems
}

// clock are the functions of package time that ask for it or wait for it.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// seeded are the names of math/rand/v2 that make a source from a given seed.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "PCG", "ChaCha8", "Rand", "Source"}

// Pure: the decision core and the bytes know no clock, no chance and no
// goroutine, so the same marks give the same decisions.
func Pure(f *File) (problems []Problem) {
	room, ok := RoomOf(f.Dir())
	if !ok || !room.Pure() || f.Apart || f.Test() {
		return nil
	}
	for _, spec := range f.Syntax.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p == "crypto/rand" {
			problems = append(problems, f.Problem(spec.Pos(), "import of %s in a pure room: draw from the plan's seed", p))
		}
	}
	f.Uses(func(at token.Pos, importPath, name string) {
		switch {
		case importPath == "time" && slices.Contains(clock, name):
			problems = append(problems, f.Problem(at, "time.%s in a pure room: take now as a parameter, let the driver wait", name))
		case importPath == "math/rand/v2" && !slices.Contains(seeded, name):
			problems = append(problems, f.Problem(at, "rand.%s in a pure room: draw from the plan's seed", name))
		}
	})
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			problems = append(problems, f.Problem(g.Pos(), "go statement in a pure room: let the driver run it"))
		}
		return true
	})
	return problems
}

// process are the names through which a package reaches for the process. A
// nil list is the whole package.
var process = map[string][]string{
	"os":        {"Args", "Exit", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "Stdin", "Stdout", "Stderr"},
	"os/signal": nil,
	"log":       {"Fatal", "Fatalf", "Fatalln"},
	"syscall":   {"Exit", "Getenv", "Environ", "Kill"},
}

// Process: only the command touches arguments, environment, signals, the
// standard streams and the exit.
func Process(f *File) (problems []Problem) {
	// The crash suite is a program of its own that judges the product.
	if f.Apart || f.Test() || f.Dir() == "cmd/backstop" || f.Dir() == "test/crash" {
		return nil
	}
	f.Uses(func(at token.Pos, importPath, name string) {
		if names, ok := process[importPath]; ok && (names == nil || slices.Contains(names, name)) {
			problems = append(problems, f.Problem(at, "%s.%s outside cmd/backstop: take it as a value", importPath, name))
		}
	})
	return problems
}
