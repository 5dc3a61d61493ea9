package mock

import (
	"encoding/json"
	"net/http"
	"strings"
)

// geminiAsk holds the fields of a generateContent request that the mock honours.
type geminiAsk struct {
	Contents []struct {
		Role  string
		Parts words
	}
	GenerationConfig struct {
		CandidateCount     *int
		MaxOutputTokens    int
		ResponseMimeType   string
		ResponseSchema     json.RawMessage
		ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
	}
	Tools []struct {
		FunctionDeclarations []struct {
			Name                 string
			Parameters           json.RawMessage
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		}
	}
	ToolConfig struct {
		FunctionCallingConfig struct {
			Mode                 string
			AllowedFunctionNames []string
		}
	}
}

// readGemini reads MODEL:ACTION from the path; a model of ours may have
// colons of its own.
func readGemini(r *http.Request, body []byte) (*ask, *failure) {
	rest := r.PathValue("rest")
	i := strings.LastIndexByte(rest, ':')
	a := &ask{op: "chat", model: rest[:max(i, 0)], body: body, pack: crlfLines, choices: 1}
	switch rest[i+1:] {
	case "generateContent":
	case "countTokens":
		a.op = "count"
	case "streamGenerateContent":
		a.stream = true
		if r.URL.Query().Get("alt") != "sse" {
			a.pack = growing
		}
	default:
		return nil, &failure{Status: http.StatusNotFound, Message: "unknown method: MODEL:generateContent, :streamGenerateContent and :countTokens are served"}
	}
	var q geminiAsk
	if bad := decodeAsk(body, &q); bad != nil {
		return a, bad
	}
	turns := make([]turn, len(q.Contents))
	for i, c := range q.Contents {
		turns[i] = turn{Role: c.Role, Content: c.Parts}
		if c.Role == "" {
			turns[i].Role = "user"
		}
	}
	a.prompt = lastAsked(turns)
	a.limit = q.GenerationConfig.MaxOutputTokens
	if n := q.GenerationConfig.CandidateCount; n != nil {
		a.choices = *n
	}
	switch {
	case a.model == "":
		return a, badRequest("model", "the path names no model")
	case len(turns) == 0:
		return a, badRequest("contents", "contents is not specified")
	case a.choices < 1 || a.choices > 8:
		return a, badRequest("candidateCount", "candidateCount must be from 1 to 8")
	case a.limit < 0:
		return a, badRequest("maxOutputTokens", "maxOutputTokens must be above zero")
	}
	q.promises(a)
	return a, nil
}

// promises notes what form the answer must have.
func (q *geminiAsk) promises(a *ask) {
	if g := &q.GenerationConfig; g.ResponseMimeType == "application/json" {
		a.json, a.schema = true, g.ResponseSchema
		if g.ResponseJSONSchema != nil {
			a.schema = g.ResponseJSONSchema
		}
	}
	for _, t := range q.Tools {
		for _, f := range t.FunctionDeclarations {
			params := f.Parameters
			if f.ParametersJSONSchema != nil {
				params = f.ParametersJSONSchema
			}
			a.tools = append(a.tools, tool{name: f.Name, params: params})
		}
	}
	if c := q.ToolConfig.FunctionCallingConfig; strings.EqualFold(c.Mode, "ANY") {
		name := ""
		if len(c.AllowedFunctionNames) > 0 {
			name = c.AllowedFunctionNames[0]
		}
		a.forceTool(name)
	}
}
