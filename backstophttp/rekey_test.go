package backstophttp

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/secret"
)

// locked answers only whoever has the key, and repeats what it refuses.
func locked(key string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+key {
			body(401, `{"error":{"message":"Incorrect API key provided: `+got+`","code":"invalid_api_key"}}`)(w, r)
			return
		}
		next(w, r)
	}
}

func TestARefusedKeyIsReadAgainFromItsFile(t *testing.T) {
	for name, after := range map[string]time.Duration{"it has changed by then": 0, "it changes later": 17 * time.Second} {
		t.Run(name, func(t *testing.T) {
			var file atomic.Value
			file.Store("the-old-key")
			reads := atomic.Int32{}
			var told []string
			o := Options{KeyRead: func(upstream string, key int, err error) {
				told = append(told, fmt.Sprint(upstream, " ", key, " ", err))
			}, ReadKey: func(path string) (secret.Value, error) {
				if path != "/keys/primary" {
					t.Errorf("read %s", path)
				}
				reads.Add(1)
				return secret.New(file.Load().(string)), nil
			}}
			in(t, setup{primary: locked("the-new-key", answers(good("P")...)), backup: answers(good("B")...), options: o, change: func(p *backstop.Plan) {
				p.Upstreams[0].Keys, p.Upstreams[0].KeyFiles = []secret.Value{secret.New("the-old-key")}, []string{"/keys/primary"}
			}}, func(h *house) {
				if after == 0 {
					file.Store("the-new-key")
				}
				p, _ := h.call(unary)
				h.want(p, 200, "backup") // this call does not wait for the file
				time.Sleep(after)
				file.Store("the-new-key")
				time.Sleep(rekeyEvery)
				synctest.Wait()
				p, _ = h.call(unary)
				h.want(p, 200, "primary")
				if n := reads.Load(); n > int32(after/rekeyEvery)+2 {
					t.Errorf("read %d times", n)
				}
				before := reads.Load()
				time.Sleep(time.Minute)
				if reads.Load() != before {
					t.Error("it is still read")
				}
				if !slices.Equal(told, []string{"primary 0 <nil>"}) {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

func TestAKeyFileThatStaysTheSameIsLookedAtNoLongerThanThePark(t *testing.T) {
	reads := atomic.Int32{}
	o := Options{ReadKey: func(string) (secret.Value, error) { reads.Add(1); return secret.New("the-old-key"), nil }}
	in(t, setup{primary: locked("the-new-key", answers(good("P")...)), backup: answers(good("B")...), options: o, change: func(p *backstop.Plan) {
		p.Upstreams[0].Keys, p.Upstreams[0].KeyFiles = []secret.Value{secret.New("the-old-key")}, []string{"/keys/primary"}
	}}, func(h *house) {
		p, _ := h.call(unary)
		h.want(p, 200, "backup")
		time.Sleep(time.Hour)
		if n := reads.Load(); n != int32(rekeyFor/rekeyEvery) {
			t.Errorf("read %d times", n)
		}
	})
}

func TestAKeyFileThatCannotBeReadIsToldOnceAndReadOn(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	var told []string
	o := Options{KeyRead: func(upstream string, key int, err error) {
		told = append(told, fmt.Sprint(upstream, " ", key, " ", err))
	}, ReadKey: func(string) (secret.Value, error) {
		if broken.Load() {
			return secret.Value{}, errors.New("no such file")
		}
		return secret.New("the-new-key"), nil
	}}
	in(t, setup{primary: locked("the-new-key", answers(good("P")...)), backup: answers(good("B")...), options: o, change: func(p *backstop.Plan) {
		p.Upstreams[0].Keys, p.Upstreams[0].KeyFiles = []secret.Value{secret.New("the-old-key")}, []string{"/keys/primary"}
	}}, func(h *house) {
		p, _ := h.call(unary)
		h.want(p, 200, "backup")
		time.Sleep(time.Minute)
		broken.Store(false)
		time.Sleep(rekeyEvery)
		synctest.Wait()
		p, _ = h.call(unary)
		h.want(p, 200, "primary")
		if !slices.Equal(told, []string{"primary 0 no such file", "primary 0 <nil>"}) {
			t.Errorf("told %q", told)
		}
	})
}

func TestAKeyThatCameFromNoFileStaysAsItIs(t *testing.T) {
	o := Options{ReadKey: func(string) (secret.Value, error) { t.Error("read"); return secret.Value{}, nil }}
	in(t, setup{primary: locked("the-new-key", answers(good("P")...)), backup: answers(good("B")...), options: o, change: func(p *backstop.Plan) {
		p.Upstreams[0].Keys = []secret.Value{secret.New("the-old-key")}
	}}, func(h *house) {
		p, _ := h.call(unary)
		h.want(p, 200, "backup")
	})
}
