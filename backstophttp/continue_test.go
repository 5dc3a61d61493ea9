package backstophttp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"backstop"
)

// continues is an upstream that tells another text when it is asked anew, and
// goes on with rest when it is asked for the rest.
func continues(anew, rest []string) http.HandlerFunc {
	asked := 0
	return func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			answers(anew...)(w, r)
			return
		}
		answers(rest...)(w, r)
	}
}

func TestATextThatDivergedIsContinued(t *testing.T) {
	for _, c := range []struct {
		name string
		have string
		rest []string
		want string
	}{
		{"exactly where it stopped", "The quick br", []string{"own", " fox"}, "The quick brown fox"},
		{"with its last words again", "The quick brown", []string{"quick", " brown", " fox"}, "The quick brown fox"},
		{"with a space and its last word", "The quick brown", []string{" brown fox"}, "The quick brown fox"},
		{"from the beginning", "The quick brown", []string{"The ", "quick brown", " fox"}, "The quick brown fox"},
		{"in characters", "The quick brown", bytewise("quick brown fox"), "The quick brown fox"},
		{"with the end of what was there and no more", "The quick brown", []string{"quick brown"}, "The quick brown"},
		{"a letter in common is no overlap", "The quick hel", []string{"lo"}, "The quick hello"},
		{"two letters in common are no overlap", "I am on", []string{"once more"}, "I am ononce more"},
		{"a doubled character is no overlap", "他说谢", []string{"谢你"}, "他说谢谢你"},
		{"a phrase of characters is one", "今天天气很好", []string{"天气很好，", "我们走"}, "今天天气很好，我们走"},
		{"what begins like an overlap and is none", "one two three", []string{"three", " times"}, "one two three times"},
		{"what begins like a longer overlap and is a shorter one", "abc abd abc", []string{"abc", " abx"}, "abc abd abc abx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			backup := continues(voiceB.tells("Another text"), voiceB.tells(c.rest...))
			in(t, setup{primary: answers(voiceP.starts([]string{c.have}, "fin")...), backup: backup, change: rescue("continue")}, func(h *house) {
				p, ev := h.call(streamUsage)
				g := understand(t, p.String())
				if g.text != c.want || !g.constant() || !g.note.Rescued || !g.note.Continued || g.note.Attempts != 3 || g.usage != len(c.rest) {
					t.Errorf("%+v\n%s", g, p)
				}
				if ev.Rescued != "continued" || ev.Calls() != 3 {
					t.Errorf("event %+v", ev)
				}
			})
		})
	}
}

func TestWhatAnUpstreamIsAskedToContinue(t *testing.T) {
	type message struct {
		Role, Content   string
		Prefix, Partial bool
	}
	for name, c := range map[string]struct {
		vendor  string
		prefill bool
		last    []message
	}{
		"an instruction":                {"generic", false, []message{{Role: "assistant", Content: "The \"quick\""}, {Role: "user"}}},
		"a prefill":                     {"generic", true, []message{{Role: "assistant", Content: "The \"quick\""}}},
		"a prefill in DeepSeek's words": {"deepseek", true, []message{{Role: "assistant", Content: "The \"quick\"", Prefix: true}}},
		"a prefill in Kimi's words":     {"moonshot", true, []message{{Role: "assistant", Content: "The \"quick\"", Partial: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			backup := continues(voiceB.tells("Another"), voiceB.tells(" fox"))
			change := func(p *backstop.Plan) {
				rescue("continue")(p)
				p.Upstreams[1].Vendor, p.Upstreams[1].Quirks.Prefill = c.vendor, c.prefill
			}
			in(t, setup{primary: answers(voiceP.starts([]string{"The \"quick\""}, "fin")...), backup: backup, change: change}, func(h *house) {
				p, _ := h.call(stream)
				if g := understand(t, p.String()); g.text != "The \"quick\" fox" {
					t.Errorf("%+v", g)
				}
				var sent struct{ Messages []message }
				if err := json.Unmarshal([]byte(h.bodies["backup"]), &sent); err != nil || len(sent.Messages) != 1+len(c.last) || sent.Messages[0].Content != "hi" {
					t.Fatalf("%v: %s", err, h.bodies["backup"])
				}
				for i, want := range c.last {
					got := sent.Messages[1+i]
					if want.Role == "user" && strings.Contains(got.Content, "cut off") {
						got.Content = ""
					}
					if got != want {
						t.Errorf("message %d is %+v, want %+v", i, got, want)
					}
				}
			})
		})
	}
}

func TestAContinuationThatFailsEndsInTheFirstError(t *testing.T) {
	for name, rest := range map[string][]string{
		"an empty one":             {voiceB.role(), voiceB.end("stop"), done},
		"one that hangs":           {voiceB.role(), "hang"},
		"one that is cut":          {voiceB.role(), voiceB.say(" fox"), "fin"},
		"one that refuses":         {voiceB.role(), voiceB.end("content_filter"), done},
		"one cut in an overlap":    {voiceB.role(), voiceB.say("quick"), "fin"},
		"one with an error inside": {`data: {"error":{"message":"m","code":"server_error"}}` + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(voiceP.starts([]string{"The quick brown"}, "fin")...), backup: continues(voiceB.tells("Another"), rest), change: rescue("continue")}, func(h *house) {
				p, ev := h.call(stream)
				g := understand(t, p.String())
				if name == "one that refuses" { // a filter is an ending of its own
					if g.text != "The quick brown" || g.finish[0] != "content_filter" {
						t.Errorf("%+v\n%s", g, p)
					}
					return
				}
				if g.code != "stream_incomplete" || !strings.HasPrefix(g.text, "The quick brown") || ev.Rescued != "failed" {
					t.Errorf("%+v, event %+v\n%s", g, ev, p)
				}
			})
		})
	}
}

func TestAnOverlapIsFoundInBoundedTime(t *testing.T) {
	have := []byte(strings.Repeat("a", maxHeldBack))
	o := newOverlap(have)
	for range 2 * maxOverlap {
		if fresh, at := o.next([]byte("a"), false); at == reached {
			t.Fatalf("reached with %q", fresh)
		}
	}
	if fresh, at := o.next([]byte("b"), false); at != reached || string(fresh) != strings.Repeat("a", maxOverlap)+"b" {
		t.Errorf("%d %d bytes", at, len(fresh))
	}
}
