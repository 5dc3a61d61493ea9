package doctor

import (
	"bytes"
	"encoding/json"
	"strings"

	"backstop"
)

// answer is what the body of an answer looks like.
type answer struct {
	html     bool
	json     bool
	list     bool             // of models
	complete bool             // there is no further page
	dialect  backstop.Dialect // whose list or error it is, "" = cannot be told
	models   []string
}

// listBody is the union of the lists and errors of the dialects.
type listBody struct {
	Object  string `json:"object"`
	Type    string `json:"type"`
	HasMore *bool  `json:"has_more"`
	Next    string `json:"nextPageToken"`
	Data    []struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"data"`
	Models []struct {
		Name string `json:"name"`
	} `json:"models"`
	Error json.RawMessage `json:"error"`
}

// read looks at a body. It never fails: what is not known is not said.
func (v *visit) read() (a answer) {
	body := bytes.TrimSpace(v.body)
	kind := strings.ToLower(v.header.Get("Content-Type"))
	if bytes.HasPrefix(body, []byte("<")) || strings.HasPrefix(kind, "text/html") {
		a.html = true
		return a
	}
	var b listBody
	if !v.whole || !json.Valid(body) {
		return a
	}
	a.json = true
	if json.Unmarshal(body, &b) != nil {
		return a
	}
	a.readError(&b)
	a.readData(&b, body)
	a.readModels(&b)
	return a
}

// readError tells the dialects' errors apart.
func (a *answer) readError(b *listBody) {
	var e struct {
		Type   string          `json:"type"`
		Status string          `json:"status"`
		Code   json.RawMessage `json:"code"`
	}
	if len(b.Error) == 0 || json.Unmarshal(b.Error, &e) != nil {
		return
	}
	switch {
	case b.Type == "error" && e.Type != "":
		a.dialect = backstop.Anthropic
	case e.Status != "" && len(e.Code) > 0 && e.Code[0] >= '0' && e.Code[0] <= '9':
		a.dialect = backstop.Gemini
	}
}

func (a *answer) readData(b *listBody, body []byte) {
	if len(b.Data) == 0 && !(b.Object == "list" && bytes.Contains(body, []byte(`"data"`))) {
		return
	}
	a.list, a.dialect, a.complete = true, backstop.OpenAI, b.HasMore == nil || !*b.HasMore
	if b.Object == "" && b.HasMore != nil && len(b.Data) > 0 && b.Data[0].Type == "model" {
		a.dialect = backstop.Anthropic
	}
	for i := range b.Data[:min(len(b.Data), maxModels)] {
		a.models = append(a.models, b.Data[i].ID)
	}
}

func (a *answer) readModels(b *listBody) {
	if a.list || len(b.Models) == 0 || !strings.HasPrefix(b.Models[0].Name, "models/") {
		return
	}
	a.list, a.dialect, a.complete = true, backstop.Gemini, b.Next == ""
	for i := range b.Models[:min(len(b.Models), maxModels)] {
		a.models = append(a.models, strings.TrimPrefix(b.Models[i].Name, "models/"))
	}
}
