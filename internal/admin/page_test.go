package admin

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"backstop/mock"
)

// own are the dashboard's files that are ours, with their text.
func own(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "web/vendor/") {
			return err
		}
		body, err := web.ReadFile(name)
		out[strings.TrimPrefix(name, "web")] = string(body)
		return err
	})
	if err != nil || len(out) < 10 {
		t.Fatal(len(out), err)
	}
	return out
}

func TestTheDashboardMakesNoMarkupOutOfText(t *testing.T) {
	for name, text := range own(t) {
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "<style", " style=\"", "onclick", "onload", "<script>", "javascript:"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", name, bad)
			}
		}
		if name != "/mark.svg" && regexp.MustCompile(`https?:`).MatchString(text) {
			t.Errorf("%s names an address elsewhere", name)
		}
	}
}

// mostBytes is what the whole dashboard may weigh.
const mostBytes = 150_000

func TestTheDashboardIsSmallAndNeedsNobodyElse(t *testing.T) {
	files, size := map[string]asset{}, 0
	for _, a := range assets() {
		files[a.path] = a
		size += len(a.body)
	}
	t.Logf("%d files, %d bytes", len(files), size)
	if size >= mostBytes {
		t.Errorf("%d bytes, most %d", size, mostBytes)
	}
	if _, there := files["/locked.html"]; there {
		t.Error("the page for strangers is served to those who are in")
	}
	// Every file that is named is there, and every file is named.
	named := map[string]bool{"/{$}": true}
	for name, text := range own(t) {
		for _, m := range regexp.MustCompile(`(?:from|href=|src=) ?"(\.?/[\w./]+\.(?:js|css|svg))"`).FindAllStringSubmatch(text, -1) {
			path := "/" + strings.TrimLeft(m[1], "./")
			named[path] = true
			if _, there := files[path]; !there {
				t.Errorf("%s names %s, which is not there", name, path)
			}
		}
	}
	for path := range files {
		if !named[path] {
			t.Errorf("nobody names %s", path)
		}
	}
	if licences, err := web.ReadFile("web/vendor/LICENSES.txt"); err != nil || strings.Count(string(licences), "Permission is hereby granted") != 2 {
		t.Error("the licences of what is not ours are not beside it")
	}
}

func TestAPackedFileIsServedAsWhatItIs(t *testing.T) {
	d := open(t, func(o *Options) {})
	d.http.Transport.(*http.Transport).DisableCompression = true
	r := d.do("GET", "/vendor/uplot.js", "", auth)
	if r.status != 200 || r.header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(r.header.Get("Content-Type"), "text/javascript") {
		t.Fatalf("%d %v", r.status, r.header)
	}
	z, err := gzip.NewReader(bytes.NewReader([]byte(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !strings.Contains(string(text), "uPlot") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// The mock describes its faults in English; the dashboard has each in Chinese.
func TestEveryFaultIsDescribedInChinese(t *testing.T) {
	text, known := own(t)["/chinese_faults.js"], map[string]bool{}
	for _, w := range mock.Words() {
		known[w.Word] = true
	}
	described := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  "([\w-]+)": ".*\p{Han}.*",$`).FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			t.Errorf("no fault is called %s", m[1])
		}
		described[m[1]] = true
	}
	for word := range known {
		if !described[word] {
			t.Errorf("%s is not described", word)
		}
	}
}

func TestAPersonWithoutTheTokenIsToldInWords(t *testing.T) {
	d := open(t, nil)
	r := d.do("GET", "/", "", "Accept: text/html,application/xhtml+xml")
	if r.status != 401 || !strings.Contains(r.body, "admin.token") || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") || r.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("%d %v %.200s", r.status, r.header, r.body)
	}
	for _, path := range []string{"/api/state", "/app.js", "/nowhere"} {
		if r := d.do("GET", path, "", "Accept: text/html"); r.status != 401 || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
	}
}

// Both languages say the same things with the same places to fill.
func TestBothLanguagesAreComplete(t *testing.T) {
	files := own(t)
	pair := regexp.MustCompile(`"([\w.-]+)": "((?:[^"\\]|\\.)*)"`)
	place := regexp.MustCompile(`\{\w+\}`)
	read := func(name string) map[string]string {
		out := map[string]string{}
		for _, m := range pair.FindAllStringSubmatch(files[name], -1) {
			if _, twice := out[m[1]]; twice {
				t.Errorf("%s has %s twice", name, m[1])
			}
			out[m[1]] = m[2]
		}
		return out
	}
	english, chinese := read("/english.js"), read("/chinese.js")
	if len(english) < 150 {
		t.Fatalf("%d texts", len(english))
	}
	fill := func(s string) map[string]bool {
		out := map[string]bool{}
		for _, p := range place.FindAllString(s, -1) {
			out[p] = true
		}
		return out
	}
	for key, text := range english {
		other, there := chinese[key]
		if !there {
			t.Errorf("Chinese has no %s", key)
			continue
		}
		for p := range fill(text) {
			if !fill(other)[p] {
				t.Errorf("%s: Chinese leaves %s out", key, p)
			}
		}
	}
	for key := range chinese {
		if _, there := english[key]; !there {
			t.Errorf("English has no %s", key)
		}
	}
	// What a screen asks for is there.
	for name, text := range files {
		for _, m := range regexp.MustCompile(`\bt\("([\w.-]+)"`).FindAllStringSubmatch(text, -1) {
			if _, there := english[m[1]]; !there && !strings.HasSuffix(m[1], ".") && !strings.HasSuffix(m[1], "-") {
				t.Errorf("%s asks for %s", name, m[1])
			}
		}
	}
}
