package jsonfix

import (
	"math/big"
	"strings"
)

// respell gives the JSON spelling of a bare token, if it has one of the same
// value. Without a code the token is JSON as it stands and word is empty.
func respell(token []byte) (word string, code Code, ok bool) {
	if len(token) == 0 {
		return "", "", false
	}
	if c := token[0]; isDigit(c) || c == '-' || c == '+' || c == '.' {
		if n := numberEnd2(token); n == len(token) {
			return "", "", true
		}
		if number, ok := respellNumber(string(token)); ok {
			return number, Number, true
		}
	}
	if len(token) > 9 {
		return "", "", false
	}
	switch string(token) {
	case "true", "false", "null":
		return "", "", true
	case "NaN", "nan", "Infinity", "-Infinity", "+Infinity", "-NaN", "inf", "-inf", "Inf", "-Inf", "undefined":
		return "null", NonFinite, true
	case "None":
		return "null", Literal, true
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(token) == len(word) && foldPrefix(token, word) {
			return word, Literal, true
		}
	}
	return "", "", false
}

func numberEnd2(token []byte) int {
	if c := token[0]; c != '-' && !isDigit(c) {
		return -1
	}
	return numberEnd(token, 0)
}

// respellNumber knows the numbers of Python, JavaScript and C that JSON
// lacks. A leading zero makes none: it belongs to a text such as a post code.
func respellNumber(s string) (string, bool) {
	sign := ""
	rest := s
	switch {
	case strings.HasPrefix(s, "-"):
		sign, rest = "-", s[1:]
	case strings.HasPrefix(s, "+"):
		rest = s[1:]
	}
	if len(rest) == 0 || len(rest) > 4000 {
		return "", false
	}
	if len(rest) > 2 && rest[0] == '0' && strings.ContainsRune("xXoObB", rune(rest[1])) {
		return respellRadix(sign, rest)
	}
	plain, ok := underscores(rest)
	if !ok {
		return "", false
	}
	head, tail := plain, ""
	if i := strings.IndexAny(plain, "eE"); i >= 0 {
		head, tail = plain[:i], plain[i:]
	}
	if strings.HasPrefix(head, ".") && len(head) > 1 {
		head = "0" + head
	}
	if strings.HasSuffix(head, ".") && len(head) > 1 {
		head = head[:len(head)-1]
	}
	number := sign + head + tail
	if numberEnd2([]byte(number+" ")) != len(number) {
		return "", false
	}
	return number, true
}

// underscores drops single underscores between digits.
func underscores(s string) (string, bool) {
	if !strings.Contains(s, "_") {
		return s, true
	}
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i == len(s)-1 || !isDigit(s[i-1]) || !isDigit(s[i+1])) {
			return "", false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// respellRadix turns 0xFF into 255. The length is bounded, for the decimal
// digits of a large number take quadratic time.
func respellRadix(sign, s string) (string, bool) {
	if len(s) > 260 {
		return "", false
	}
	n, ok := new(big.Int).SetString(strings.ToLower(s), 0)
	if !ok || n.Sign() < 0 {
		return "", false
	}
	if n.Sign() == 0 {
		sign = ""
	}
	return sign + n.String(), true
}

// completeLiteral completes what src ends in if only one value begins so.
func completeLiteral(token []byte) (word string, code Code, ok bool) {
	s := string(token[:min(len(token), 10)])
	for _, w := range [...]struct {
		full, word string
		code       Code
	}{
		{"true", "true", ""}, {"false", "false", ""}, {"null", "null", ""},
		{"True", "true", Literal}, {"False", "false", Literal}, {"None", "null", Literal},
	} {
		if strings.HasPrefix(w.full, s) && (s != "N") {
			return w.word, w.code, true
		}
	}
	return "", "", false
}

// dropAtCut: a word that may become one without a finite value.
func dropAtCut(token []byte) bool {
	for _, w := range []string{"NaN", "Infinity", "undefined", "nan", "inf"} {
		if len(token) <= len(w) && w[:len(token)] == string(token) {
			return true
		}
	}
	return false
}
