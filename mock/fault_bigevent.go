package mock

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const biggestEvent = 64 << 20

// bigevent puts all text into one token of a given size.
func bigEventFault(s spec) (player, error) {
	size := 1 << 20
	if len(s.args) > 1 {
		return nil, errors.New("one size is wanted")
	}
	if len(s.args) == 1 {
		n, err := parseSize(s.args[0])
		if err != nil {
			return nil, err
		}
		size = n
	}
	return func(x *exchange) {
		for i := range x.reply.choices {
			x.reply.choices[i] = choice{pieces: []string{strings.Repeat("x", size)}, finish: "stop"}
		}
		x.reply.count()
		x.answer()
	}, nil
}

// parseSize reads bytes, KiB or MiB.
func parseSize(text string) (int, error) {
	digits, unit := text, 1
	for suffix, u := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "B": 1} {
		if d, ok := strings.CutSuffix(text, suffix); ok && (suffix != "B" || !strings.HasSuffix(text, "iB")) {
			digits, unit = d, u
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > biggestEvent/unit {
		return 0, fmt.Errorf("%q is no size up to 64MiB", text)
	}
	return n * unit, nil
}
