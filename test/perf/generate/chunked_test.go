package generate

import "testing"

func TestAChunkedBodyReadsTheSameInEveryPortion(t *testing.T) {
	const body = "5\r\nhello\r\n1;note=x\r\n,\r\nA\r\n world\r\nab\r\n0\r\nTrailer: x\r\n\r\n"
	const want = "hello, world\r\nab"
	for size := 1; size <= len(body); size++ {
		var d chunked
		var got []byte
		ended := false
		for from := 0; from < len(body); from += size {
			var ok bool
			ended, ok = d.feed([]byte(body[from:min(from+size, len(body))]), func(b []byte) { got = append(got, b...) })
			if !ok {
				t.Fatalf("portions of %d: refused at %d", size, from)
			}
		}
		if !ended || string(got) != want {
			t.Errorf("portions of %d: got %q, ended %v", size, got, ended)
		}
	}
}

func TestWhatIsNoChunkedBodyIsRefused(t *testing.T) {
	for _, body := range []string{"hello\r\n", "-1\r\n", "\r\n\r\n", "5\r\nhelloworld\r\n"} {
		var d chunked
		if ended, ok := d.feed([]byte(body), func([]byte) {}); ok && body[0] != '5' || ended {
			t.Errorf("%q: ended %v, ok %v", body, ended, ok)
		}
	}
}
