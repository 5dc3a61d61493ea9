package config

import (
	"strings"
	"testing"

	"backstop"
)

func env(pairs ...string) func(string) (string, bool) {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func TestKeysInTheEnvironmentGiveTheExpectedPlan(t *testing.T) {
	for name, vars := range map[string][]string{
		"one_key":        {"DEEPSEEK_API_KEY=sk-1"},
		"three_keys":     {"OPENAI_API_KEY=sk-1", "DEEPSEEK_API_KEY=sk-2", "DASHSCOPE_API_KEY=sk-3", "DASHSCOPE_MODEL=qwen-max"},
		"chosen_order":   {"OPENAI_API_KEY=sk-1", "DEEPSEEK_API_KEY=sk-2", "ZHIPU_API_KEY=sk-3", "BACKSTOP_TIERS=glm, deepseek"},
		"mock":           {"OPENAI_API_KEY=sk-1", "OPENAI_BASE_URL=http://127.0.0.1:8401/v1", "OPENAI_MODEL=hang", "MOONSHOT_API_KEY=sk-2", "MOONSHOT_BASE_URL=http://127.0.0.1:8402/v1"},
		"dialects":       {"ANTHROPIC_API_KEY=sk-1", "GOOGLE_API_KEY=sk-2", "OPENAI_API_KEY=sk-3"},
		"container":      {"OPENAI_API_KEY=sk-1", "BACKSTOP_LISTEN=0.0.0.0:8080", "BACKSTOP_KEY=0123456789abcdef"},
		"thinks":         {"OPENAI_API_KEY=sk-1", "OPENAI_MODEL=gpt-5"},
		"bad_no_key":     {"OPENAI_API_KEY="},
		"one_dialect":    {"ANTHROPIC_API_KEY=sk-1"},
		"bad_open_door":  {"OPENAI_API_KEY=sk-1", "BACKSTOP_LISTEN=:8080"},
		"bad_short_key":  {"OPENAI_API_KEY=sk-1", "BACKSTOP_KEY=short"},
		"bad_own":        {"OPENAI_API_KEY=sk-1", "OPENAI_BASE_URL=http://localhost:3000/v1"},
		"bad_url":        {"OPENAI_API_KEY=sk-1", "OPENAI_BASE_URL=api.openai.com"},
		"bad_address":    {"OPENAI_API_KEY=sk-1", "BACKSTOP_LISTEN=3100"},
		"bad_tiers":      {"OPENAI_API_KEY=sk-1", "BACKSTOP_TIERS=opnai,mistral,openai,openai,deepseek"},
		"bad_key_breaks": {"OPENAI_API_KEY=sk-1\nX: y"},
	} {
		t.Run(name, func(t *testing.T) {
			c, warnings, err := FromEnv(Options{Env: env(vars...), Terminal: true})
			if (err != nil) != strings.HasPrefix(name, "bad_") {
				t.Errorf("error = %v", err)
			}
			var got strings.Builder
			for _, w := range warnings {
				got.WriteString("warning: " + w.Message + "\n")
			}
			if err != nil {
				got.WriteString(err.Error() + "\n")
			} else {
				got.WriteString(c.Describe())
			}
			golden(t, "testdata/env/"+name+".txt", got.String())
		})
	}
}

func TestInAnEnvironmentPlanTheOwnerKeepsTheModelNameAndTheOthersUseTheirs(t *testing.T) {
	c, _, err := FromEnv(Options{Env: env("OPENAI_API_KEY=a", "DEEPSEEK_API_KEY=b", "DASHSCOPE_API_KEY=c")})
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{
		"gpt-4o":        "openai: deepseek:deepseek-chat dashscope:qwen-plus template:",
		"o3-mini":       "openai-thinking: deepseek:deepseek-chat dashscope:qwen-plus template:",
		"gpt-5-chat":    "openai: deepseek:deepseek-chat dashscope:qwen-plus template:",
		"deepseek-r1":   "openai:gpt-4o deepseek: dashscope:qwen-plus template:",
		"qwen3-max":     "openai:gpt-4o deepseek:deepseek-chat dashscope: template:",
		"llama-3":       "openai:gpt-4o deepseek:deepseek-chat dashscope:qwen-plus template:",
		"*":             "openai:gpt-4o deepseek:deepseek-chat dashscope:qwen-plus template:",
		c.Agent.Model:   "openai:gpt-4o deepseek:deepseek-chat dashscope:qwen-plus template:",
		"vendor/gpt-4o": "openai:gpt-4o deepseek:deepseek-chat dashscope:qwen-plus template:",
	} {
		rt := c.Plan.Route(asked)
		if rt == nil {
			t.Errorf("%s: no route", asked)
			continue
		}
		var got []string
		for i := range rt.Tiers {
			got = append(got, rt.Tiers[i].Name()+":"+rt.Tiers[i].Model)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", asked, strings.Join(got, " "), want)
		}
	}
	if got := c.Plan.Upstream("openai").Timeouts.FirstToken; got != backstop.DefaultFirstToken {
		t.Errorf("first_token of openai = %s", got)
	}
	if got := c.Plan.Upstream("openai-thinking").Timeouts.FirstToken; got != backstop.SilentFirstToken {
		t.Errorf("first_token of openai-thinking = %s", got)
	}
}

func TestAPairOfURLsGivesTwoTiersAndATemplate(t *testing.T) {
	c, _, err := Pair(PairOptions{Primary: "http://127.0.0.1:8401/v1", Backup: "https://api.deepseek.com/v1", PrimaryModel: "hang", BackupKeyEnv: "DS"},
		Options{Env: env("DS=sk-1"), Listen: "127.0.0.1:0", Admin: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/env/pair.txt", c.Describe())
	if u := c.Plan.Upstream("backup"); len(u.Keys) != 1 || u.Keys[0].Reveal() != "sk-1" || u.AllowPrivate {
		t.Errorf("backup = %+v", u)
	}
	if !c.Plan.Upstream("primary").AllowPrivate {
		t.Error("the loopback address that was written out is not permitted")
	}
	if string(c.Plan.Routes[0].Tiers[2].Local.Template.JSON) != `{"fallback": true}` {
		t.Error("the template has no JSON")
	}
	for _, own := range []struct {
		primary, backup, agent string
		warned                 bool
	}{{"a", "b", "a", false}, {"", "b", "b", false}, {"a", "", "a", false}, {"", "", "*", true}} {
		p := PairOptions{Primary: "http://127.0.0.1:8401/v1", Backup: "http://127.0.0.1:8402/v1", PrimaryModel: own.primary, BackupModel: own.backup}
		c, warnings, err := Pair(p, Options{Env: env("")})
		if err != nil || c.Agent.Model != own.agent || (len(warnings) > 0) != own.warned {
			t.Errorf("%+v: /api/agent asks for %q, warnings %v: %v", own, c.Agent.Model, warnings, err)
		}
	}
	_, _, err = Pair(PairOptions{Primary: "nonsense", PrimaryKeyEnv: "NONE"}, Options{})
	if err == nil {
		t.Fatal("a broken pair is accepted")
	}
	golden(t, "testdata/env/bad_pair.txt", err.Error()+"\n")
}
