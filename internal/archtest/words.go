package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"unicode"
)

// avoided are the words that name no thing of ours, and the word that does.
var avoided = map[string]string{
	"provider":   "upstream",
	"backend":    "upstream",
	"target":     "upstream",
	"channel":    "upstream",
	"deployment": "upstream",
	"client":     "caller (or conn, for the TCP peer)",
	"user":       "caller",
	"tenant":     "caller",
	"protocol":   "dialect",
	"schema":     "dialect",
	"format":     "dialect",
	"level":      "tier",
	"hop":        "attempt",
	"session":    "call",
	"fuse":       "breaker",
	"cooldown":   "park",
	"ban":        "park",
	"banned":     "park",
}

// granted words: where an avoided word is the right one, because it is the
// name that a standard or the standard library gave to something else. dir
// and ident are patterns of path.Match; dir "*" is every room.
var grantedWords = []struct{ word, dir, ident, why string }{
	{"schema", "*", "*", "JSON Schema is a standard; what a caller's JSON must follow is called nothing else"},
	{"format", "*", "Format", "fmt.Formatter names the method"},
	{"format", "*", "format", "the parameter of printf-like functions"},
	{"format", "*", "*[eE]ncodingFormat", "OpenAI names the parameter"},
	{"format", "*", "*[rR]esponseFormat", "OpenAI names the parameter"},
	{"format", "*", "*[lL]ogFormat", "the configuration names the key"},
	{"level", "*", "*[lL]ogLevel", "the configuration names the key"},
	{"level", "*", "[lL]evel", "log levels of slog"},
	{"protocol", "*", "KindProtocol", "the outcome table names the kind garbled/protocol"},
	{"protocol", "wire", "protocol", "the outcome table names the kind garbled/protocol"},
	{"protocol", "internal/upstream", "isProtocol", "an error of HTTP itself, not of a dialect"},
	{"target", "cmd/backstop", "[tT]arget", "the flag bench --target names it: any gateway, not an upstream of ours"},
	{"client", "*", "*TLSClient*", "net/http names it"},
}

// Words: one word a thing, in the names of types, functions, fields and
// parameters, constants and package variables.
func Words(f *File) (problems []Problem) {
	if f.Apart || f.Test() {
		return nil
	}
	names(f.Syntax, func(id *ast.Ident) {
		for _, word := range Split(id.Name) {
			instead, bad := avoided[word]
			if !bad {
				word = strings.TrimSuffix(word, "s")
				instead, bad = avoided[word]
			}
			if bad && !mayName(word, f.Dir(), id.Name) {
				problems = append(problems, f.Problem(id.Pos(), "%s: the word here is %s, not %s", id.Name, instead, word))
			}
		}
	})
	return problems
}

func mayName(word, dir, ident string) bool {
	for _, g := range grantedWords {
		inDir, _ := path.Match(g.dir, dir)
		isIdent, _ := path.Match(g.ident, ident)
		if g.word == word && (g.dir == "*" || inDir) && isIdent {
			return true
		}
	}
	return false
}

// names visits the names that a file gives to others: not local variables,
// whose words their function explains.
func names(file *ast.File, visit func(*ast.Ident)) {
	fields := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				visit(id)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.TypeSpec:
			visit(x.Name)
		case *ast.FuncDecl:
			visit(x.Name)
			fields(x.Recv)
		case *ast.FuncType:
			fields(x.TypeParams)
			fields(x.Params)
			fields(x.Results)
		case *ast.StructType:
			fields(x.Fields)
		case *ast.InterfaceType:
			fields(x.Methods)
		}
		return true
	})
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR && gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				visit(id)
			}
		}
	}
}

// Split cuts an identifier into its words in lower case: HTTPClientID_v2
// gives http, client, id, v.
func Split(ident string) (words []string) {
	runes := []rune(ident)
	from := 0
	cut := func(to int) {
		if to > from {
			words = append(words, strings.ToLower(string(runes[from:to])))
		}
		from = to
	}
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c):
			cut(i)
			from = i + 1
		case i > 0 && unicode.IsUpper(c) && unicode.IsLower(runes[i-1]):
			cut(i)
		case i > 0 && i+1 < len(runes) && unicode.IsUpper(c) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1]):
			cut(i)
		}
	}
	cut(len(runes))
	return words
}
