package doctor

import (
	"io"
	"net/http"
	"regexp"
	"strings"

	"backstop"
)

// keyPaths are the free endpoints of vendors that say whether a key is good
// where their list of models does not.
var keyPaths = map[string]string{"openrouter": "/key"}

// anthropicVersion is the oldest version that the list of models knows.
const anthropicVersion = "2023-06-01"

// question is the free path that is asked first.
func (c *checkup) question() string {
	path := "/models"
	switch c.up.Dialect {
	case backstop.Anthropic:
		path = "/v1/models"
		if versioned(c.base.Path) {
			path = "/models"
		}
	case backstop.Gemini:
		path = "/v1beta/models"
		if versioned(c.base.Path) {
			path = "/models"
		}
	case backstop.OpenAI:
		if p := keyPaths[c.up.Vendor]; p != "" {
			path = p
		}
	}
	return path
}

func (c *checkup) extra() http.Header {
	if c.up.Dialect == backstop.Anthropic {
		return http.Header{"Anthropic-Version": {anthropicVersion}}
	}
	return nil
}

var version = regexp.MustCompile(`/v[0-9]+(alpha|beta)?[0-9]*(/|$)`)

// versioned reports whether a path names a version of an API.
func versioned(path string) bool { return version.MatchString(strings.TrimRight(path, "/")) }

func readBounded(r io.Reader) (body []byte, whole bool) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if len(body) > maxBody {
		return body[:maxBody], false
	}
	return body, err == nil
}
