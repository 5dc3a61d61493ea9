package observe

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/semconv/v1.40.0/genaiconv"

	"backstop"
)

var dotted = regexp.MustCompile(`"((?:gen_ai|backstop|error|http)\.[a-z_.]+)"`)

// TestThePageNamesWhatIsSent compares docs/observability.md with the code, both ways.
func TestThePageNamesWhatIsSent(t *testing.T) {
	var code strings.Builder
	for _, file := range []string{"genai.go", "spans.go", "probespan.go"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(data)
	}
	page, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	inCode := map[string]bool{}
	for _, m := range dotted.FindAllStringSubmatch(code.String(), -1) {
		inCode[m[1]] = true
		if !strings.Contains(string(page), m[1]) {
			t.Errorf("the page does not name %s", m[1])
		}
	}
	if len(inCode) < 30 {
		t.Fatalf("%d names in the code", len(inCode))
	}
	for _, name := range regexp.MustCompile(`\b(?:gen_ai|backstop)\.[a-z_]+[a-z_.]*[a-z]`).FindAllString(string(page), -1) {
		if !inCode[name] && name != "backstop.log" && name != "backstop.json" {
			t.Errorf("the page names %s, which nothing sends", name)
		}
	}
	for _, a := range alerts {
		if !strings.Contains(string(page), "| "+a.name+" |") {
			t.Errorf("the page does not say what to do about %s", a.name)
		}
	}
}

func TestTheWordsAreThoseOfTheConvention(t *testing.T) {
	for want, got := range map[attribute.Key]string{
		semconv.GenAIOperationNameKey: opKey, semconv.GenAIProviderNameKey: vendorKey, semconv.GenAIRequestModelKey: askedKey,
		semconv.GenAIResponseModelKey: answeredKey, semconv.GenAIUsageInputTokensKey: inputKey, semconv.GenAIUsageOutputTokensKey: outputKey,
		semconv.GenAITokenTypeKey: tokenKey, semconv.ErrorTypeKey: errorKey,
	} {
		if string(want) != got {
			t.Errorf("%s should be %s", got, want)
		}
	}
	for op, want := range map[string]genaiconv.OperationNameAttr{
		"chat": genaiconv.OperationNameChat, "agent": genaiconv.OperationNameChat, "completion": genaiconv.OperationNameTextCompletion, "embedding": genaiconv.OperationNameEmbeddings,
	} {
		if got := opWord(op); got != string(want) {
			t.Errorf("%s is %s, should be %s", op, got, want)
		}
	}
	for vendor, want := range map[string]genaiconv.ProviderNameAttr{
		"openai": genaiconv.ProviderNameOpenAI, "azure-openai": genaiconv.ProviderNameAzureAIOpenAI, "anthropic": genaiconv.ProviderNameAnthropic,
		"gemini": genaiconv.ProviderNameGCPGemini, "vertex": genaiconv.ProviderNameGCPVertexAI, "bedrock": genaiconv.ProviderNameAWSBedrock,
		"mistral": genaiconv.ProviderNameMistralAI, "groq": genaiconv.ProviderNameGroq, "xai": genaiconv.ProviderNameXAI,
		"cohere": genaiconv.ProviderNameCohere, "deepseek": genaiconv.ProviderNameDeepseek,
	} {
		if got := vendorWord(&backstop.Upstream{Vendor: vendor}); got != string(want) {
			t.Errorf("%s is %s, should be %s", vendor, got, want)
		}
	}
	n := newNames(&backstop.Plan{Upstreams: []backstop.Upstream{{Name: "claude", Vendor: "generic", Dialect: backstop.Anthropic}, {Name: "qwen", Vendor: "dashscope"}, {Name: "any"}}}, nil)
	for upstream, want := range map[string]string{"claude": "anthropic", "qwen": "dashscope", "any": "openai", "template": "backstop", "stranger": "openai"} {
		if got := n.vendor(upstream); got != want {
			t.Errorf("%s is of %s, should be of %s", upstream, got, want)
		}
	}
	for want, got := range map[string]string{
		genaiconv.ClientOperationDuration{}.Name(): "gen_ai.client.operation.duration", genaiconv.ClientTokenUsage{}.Name(): "gen_ai.client.token.usage",
		genaiconv.ServerRequestDuration{}.Name(): "gen_ai.server.request.duration", genaiconv.ServerTimeToFirstToken{}.Name(): "gen_ai.server.time_to_first_token",
		genaiconv.ServerTimePerOutputToken{}.Name(): "gen_ai.server.time_per_output_token",
	} {
		if want != got {
			t.Errorf("%s should be %s", got, want)
		}
	}
}
