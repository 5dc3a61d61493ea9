package admin

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed web
var web embed.FS

//go:embed openapi.json
var openAPIText []byte

// media are the types of the dashboard's files by their endings. A file that
// has another ending is not served.
var media = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

// asset is one embedded file at its path. Paths of requests never name files.
type asset struct {
	path, media string
	body        []byte
	packed      bool // the body is gzip
}

// notServed are pages for those who are not let in.
var notServed = []string{"locked.html"}

// assets are the dashboard's files, each at its own fixed path.
func assets() []asset {
	var out []asset
	_ = fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		at, packed := strings.CutSuffix(strings.TrimPrefix(name, "web"), ".gz")
		kind := media[path.Ext(at)]
		for _, n := range notServed {
			if at == "/"+n {
				kind = ""
			}
		}
		if kind == "" {
			return nil
		}
		body, err := web.ReadFile(name)
		if at == "/index.html" {
			at = "/{$}"
		}
		out = append(out, asset{at, kind, body, packed})
		return err
	})
	return out
}

func openAPI() asset {
	return asset{path: "/api/openapi.json", media: "application/json", body: openAPIText}
}

// ServeHTTP sends the file. A packed one goes out as it is: every browser that
// can show the dashboard unpacks it.
func (a asset) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.media)
	if a.packed {
		w.Header().Set("Content-Encoding", "gzip")
	}
	_, _ = w.Write(a.body)
}

// locked tells a person with a browser how to get in; programs get JSON.
func locked(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != "/" || r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	body, err := web.ReadFile("web/locked.html")
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", media[".html"])
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write(body)
	return true
}
