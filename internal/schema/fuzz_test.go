package schema

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"backstop/jsonfix"
)

// FuzzFollow: whatever schema and answer, a result follows the schema, and
// repairing it again changes nothing.
func FuzzFollow(f *testing.F) {
	for _, name := range []string{"../../jsonfix/testdata/json-schema-repair.jsonl", "testdata/more.jsonl"} {
		file, err := os.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var it item
			if json.Unmarshal(lines.Bytes(), &it) == nil {
				f.Add([]byte(it.Schema), []byte(it.Input))
			}
		}
		file.Close()
	}
	f.Fuzz(func(t *testing.T, source, src []byte) {
		if len(source) > 2000 || len(src) > 2000 {
			return
		}
		s, err := compile(source)
		if err != nil {
			return
		}
		r, err := jsonfix.Repair(src, jsonfix.Options{Schema: s})
		if err != nil {
			return
		}
		if wrong := s.Validate(r.JSON); len(wrong) > 0 {
			t.Errorf("%s for %s gave %s, which breaks %v", src, source, r.JSON, wrong)
		}
		again, err := jsonfix.Repair(r.JSON, jsonfix.Options{Schema: s})
		if err != nil || string(again.JSON) != string(r.JSON) || again.Status != jsonfix.StatusValid {
			t.Errorf("%s for %s: again %s %s %v", r.JSON, source, again.Status, again.JSON, err)
		}
	})
}
