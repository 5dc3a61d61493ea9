package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheLogSaysWhatCameOfAKeyFileThatWasReadAgain(t *testing.T) {
	const whose = `,"upstream":"primary","key":1` // as the doctor counts
	for want, change := range map[string]func(file string) error{
		"the new one is used from now on": func(file string) error { return os.WriteFile(file, []byte("the-new-key"), 0o600) },
		"a key file cannot be read again": os.Remove,
		"was read again and holds no key": func(file string) error { return os.WriteFile(file, nil, 0o600) },
	} {
		t.Run(want, func(t *testing.T) {
			h := newHouse(t, false)
			key := filepath.Join(filepath.Dir(h.file), "key")
			if err := os.WriteFile(key, []byte("the-old-key"), 0o600); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(h.file)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.Replace(string(text), "primary: {", `primary: {key: "${file:key}", `, 1))
			if err := os.WriteFile(h.file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := h.Reload(); err != nil {
				t.Fatal(err)
			}
			if err := change(key); err != nil {
				t.Fatal(err)
			}
			if err := h.primary.SetFault("*", "401"); err != nil {
				t.Fatal(err)
			}
			h.call("m")
			eventually(t, "a line about the key", func() bool { return h.log.has(want) && h.log.has(whose) })
			if h.log.has("the-old-key") || h.log.has("the-new-key") || h.log.has(key) {
				t.Error("the log holds a key or its path")
			}
		})
	}
}
