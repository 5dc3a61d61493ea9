package admin

import (
	"embed"
	"net/http"
)

//go:embed web/index.html web/table.js web/style.css
var web embed.FS

// asset serves one embedded file. Paths of requests never name files.
func asset(name, media string) http.HandlerFunc {
	body, err := web.ReadFile("web/" + name)
	return func(w http.ResponseWriter, _ *http.Request) {
		if err != nil {
			fail(w, http.StatusNotFound, "not_found", "this build has no dashboard")
			return
		}
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(body)
	}
}
