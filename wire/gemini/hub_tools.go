package gemini

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/intake"
)

// tools reads the functions. Everything else that may stand in a tool is run
// by the vendor.
func (h *hubRead) tools(v gjson.Result) {
	each(v, func(i int, t gjson.Result) bool {
		at := place("tools", i)
		t.ForEach(func(k, v gjson.Result) bool {
			switch name := camel(k.String()); {
			case !intake.Filled(v):
			case name == "functionDeclarations":
				each(v, func(j int, f gjson.Result) bool {
					h.function(f, place(at+"."+name, j))
					return h.Fail == nil
				})
			default:
				h.extra(at+"."+name, false)
			}
			return h.Fail == nil
		})
		return h.Fail == nil
	})
}

// ofFunction are the members of a function that the hub knows, or that are
// looked at apart.
var ofFunction = []string{"name", "description", "parameters", "parametersJsonSchema", "behavior"}

func (h *hubRead) function(f gjson.Result, at string) {
	t := wire.Tool{At: at, Name: f.Get("name").Str, Description: f.Get("description").Str}
	if t.Name == "" {
		h.Refuse(at+".name", "%s has no name", at)
	}
	if s := pick(f, "parametersJsonSchema"); s.IsObject() {
		t.Schema = []byte(s.Raw)
	} else if s := f.Get("parameters"); s.IsObject() {
		var ok bool
		if t.Schema, ok = standardSchema(s); !ok {
			h.Refuse(at+".parameters", "%s.parameters is too deep or too large", at)
		}
	}
	if b := f.Get("behavior").Str; b != "" && b != "BLOCKING" && b != "UNSPECIFIED" {
		h.extra(at+".behavior", false)
	}
	h.beyond(f, at, ofFunction...)
	h.p.Tools = append(h.p.Tools, t)
}

// beyond names the members of an object that the hub has no field for.
func (h *hubRead) beyond(v gjson.Result, at string, known ...string) {
	for _, name := range intake.Beyond(v) {
		if name = camel(name); !slices.Contains(known, name) {
			h.extra(at+"."+name, true)
		}
	}
}

func (h *hubRead) toolConfig(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := camel(k.String()); {
		case !intake.Filled(v):
		case name == "functionCallingConfig":
			h.calling(v)
		default:
			name = "toolConfig." + name
			h.extra(name, hints[name] || saysNothing(v))
		}
		return true
	})
}

// calling reads how free the model is. Of several allowed functions no other
// dialect knows; VALIDATED only adds that calls keep to their schema.
func (h *hubRead) calling(v gjson.Result) {
	const at = "toolConfig.functionCallingConfig"
	c := &h.p.ToolChoice
	allowed := pick(v, "allowedFunctionNames").Array()
	switch mode := strings.ToUpper(v.Get("mode").Str); mode {
	case "", "MODE_UNSPECIFIED":
	case "AUTO":
		c.Kind = wire.ChoiceAuto
	case "NONE":
		c.Kind = wire.ChoiceNone
	case "VALIDATED":
		c.Kind = wire.ChoiceAuto
		h.extra(at+".mode", true)
	case "ANY":
		c.Kind = wire.ChoiceRequired
		if len(allowed) == 1 {
			c.Kind, c.Name = wire.ChoiceNamed, allowed[0].Str
			return
		}
	default:
		h.extra(at+".mode", false)
	}
	if len(allowed) > 0 && !h.allows(allowed) {
		h.extra(at+".allowedFunctionNames", false)
	}
	if s := pick(v, "streamFunctionCallArguments"); s.Type == gjson.True {
		h.extra(at+".streamFunctionCallArguments", true)
	}
}

// allows reports whether all functions are allowed, as far as they are known by
// now.
func (h *hubRead) allows(names []gjson.Result) bool {
	allowed := map[string]bool{}
	for _, n := range names {
		allowed[n.Str] = true
	}
	all := 0
	each(h.head["tools"], func(_ int, t gjson.Result) bool {
		each(pick(t, "functionDeclarations"), func(_ int, f gjson.Result) bool {
			if all++; !allowed[f.Get("name").Str] {
				all = -1 << 30
			}
			return true
		})
		return true
	})
	return all > 0
}
