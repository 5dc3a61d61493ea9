package mock

import (
	"strconv"
)

const page = "<!DOCTYPE html>\n<html><head><title>One moment</title></head>\n<body><h1>We will be back soon</h1></body></html>\n"

// html answers with a web page, as gateways and captive portals do.
func htmlFault(s spec) (player, error) {
	word, err := s.choice("200", "403", "404", "500", "502", "503", "504")
	code, _ := strconv.Atoi(word)
	return func(x *exchange) {
		h := x.w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Length", strconv.Itoa(len(page)))
		x.opened, x.status = true, code
		x.w.WriteHeader(code)
		x.emit([]byte(page))
	}, err
}
