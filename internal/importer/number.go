package importer

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"backstop/internal/config/tree"
)

// longest is the longest duration that our file takes.
const longest = 31 * 24 * time.Hour

// number reads a number from 0 up.
func number(n *tree.Node) (float64, bool) {
	if n == nil || n.Kind != tree.Scalar {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(n.Text), "_", ""), 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > 1e9 {
		return 0, false
	}
	return v, true
}

// whole reads a whole number from 0 up.
func whole(n *tree.Node) (int, bool) {
	v, ok := number(n)
	return int(v), ok && v == math.Trunc(v)
}

// in reads a time in a unit, to the millisecond, at most what our file takes.
func in(n *tree.Node, unit time.Duration) (time.Duration, bool) {
	v, ok := number(n)
	if !ok || v == 0 {
		return 0, false
	}
	d := v * float64(unit)
	if d > float64(longest) {
		return longest, true
	}
	t := time.Duration(d).Round(time.Millisecond)
	return t, t > 0
}

// truth reads a switch.
func truth(n *tree.Node) bool {
	return n != nil && n.Kind == tree.Scalar && slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(n.Text))
}

// text is a scalar's text, "" for anything else and for null.
func text(n *tree.Node) string {
	if n == nil || n.Kind != tree.Scalar {
		return ""
	}
	return strings.TrimSpace(n.Text)
}

func sortPairs(list []pair) {
	slices.SortFunc(list, func(a, b pair) int { return strings.Compare(a.name, b.name) })
}
