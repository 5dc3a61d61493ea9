package wire

import (
	"strings"

	"github.com/tidwall/gjson"
)

// readRoot finds the error in a JSON value of any of the known forms.
func (e *envelope) readRoot(root gjson.Result) {
	e.root = root
	switch {
	case root.Type == gjson.String:
		e.found = true
		e.say(root.Str)
	case root.IsArray():
		// Google wraps its errors in an array; only an object inside counts.
		first := root.Get("0")
		if first.IsObject() {
			e.readObject(first)
		}
	case root.IsObject():
		e.readObject(root)
	}
}

func (e *envelope) readObject(o gjson.Result) {
	if e.readNative(o) {
		return
	}
	for _, path := range []string{"error", "response.error", "choices.0.error", "errors.0"} {
		if v := o.Get(path); v.IsObject() && v.Raw != "{}" {
			e.found = true
			e.readError(v)
			e.addFields(o, "code", "error_code", "__type")
			return
		}
	}
	if v := o.Get("error"); v.Type == gjson.String && v.Str != "" {
		e.found = true
		e.addFields(o, "error_type", "code", "type")
		// {"error": "slug", "message": "words"} is as frequent as the words alone.
		if m := o.Get("message"); m.Type == gjson.String && m.Str != "" {
			e.addCode(v.Str)
			e.say(m.Str)
		}
		e.say(v.Str)
		return
	}
	e.readFlat(o)
}

// readNative knows the forms that belong to one vendor alone.
func (e *envelope) readNative(o gjson.Result) bool {
	if v := o.Get("base_resp"); v.IsObject() {
		if code := v.Get("status_code"); telling(code) {
			e.found, e.vendor = true, "minimax"
			e.addNumber(code)
			e.say(v.Get("status_msg").String())
			return true
		}
	}
	if v := o.Get("Response.Error"); v.IsObject() {
		e.found, e.vendor = true, "hunyuan"
		e.addFields(v, "Code")
		e.say(v.Get("Message").String())
		return true
	}
	if v := o.Get("error_code"); telling(v) && o.Get("error_msg").Exists() {
		e.found, e.vendor = true, "qianfan"
		e.addNumber(v)
		e.say(o.Get("error_msg").String())
		return true
	}
	return false
}

// readError reads the object under "error".
func (e *envelope) readError(v gjson.Result) {
	e.addFields(v, "innererror.code", "details.error_code", "metadata.limit_source", "metadata.error_type")
	if v.Get("metadata.limit_source").Exists() {
		e.addCode("limit_source")
	}
	if v.Get("metadata.reasons").IsArray() && v.Get("metadata.flagged_input").Exists() {
		e.addCode("flagged_input")
	}
	e.readDetails(v.Get("details"))
	e.addFields(v, "code", "type", "error_type", "status", "http_code", "status_code", "name")
	e.param = paramName(v.Get("param").String())
	e.readMessage(v)
	e.hear(v.Get("metadata.raw").String())
}

// readDetails reads Google's typed details.
func (e *envelope) readDetails(details gjson.Result) {
	if !details.IsArray() {
		return
	}
	var perDay, perMinute bool
	count := 0
	details.ForEach(func(_, d gjson.Result) bool {
		e.addFields(d, "reason")
		d.Get("violations").ForEach(func(_, v gjson.Result) bool {
			id := v.Get("quotaId").Str
			perDay = perDay || strings.Contains(id, "PerDay")
			perMinute = perMinute || strings.Contains(id, "PerMinute")
			count++
			return count < maxElements
		})
		count++
		return count < maxElements
	})
	switch {
	case perDay:
		e.addCode("quota-per-day")
	case perMinute:
		e.addCode("quota-per-minute")
	}
}

// readFlat reads errors without an object of their own. A message alone is
// only an error where the status already says so.
func (e *envelope) readFlat(o gjson.Result) {
	code, kind := o.Get("code"), o.Get("type")
	e.found = o.Get("object").Str == "error" || kind.Str == "error" || kind.Str == "response.failed" || o.Get("detail").Exists() ||
		telling(code) && (o.Get("message").Exists() || o.Get("msg").Exists() || o.Get("error_msg").Exists())
	if code.Type == gjson.Number && code.Num >= 336000 && o.Get("msg").Exists() {
		e.vendor = "qianfan"
	}
	e.addNumber(code)
	e.addFields(o, "error_code", "__type", "type", "error_type", "status", "raw_status_code", "status_code")
	e.param = paramName(o.Get("param").String())
	e.readMessage(o)
}

// readMessage takes the message of an object: text, an object, or a list of
// violations.
func (e *envelope) readMessage(o gjson.Result) {
	for _, name := range []string{"message", "detail", "msg", "error_msg", "Message", "error_description", "title"} {
		switch v := o.Get(name); {
		case v.Type == gjson.String:
			e.say(v.Str)
		case v.IsObject() && name == "message":
			e.readMessage(v)
		case v.IsArray():
			e.readViolations(v)
		}
	}
}

// readViolations reads a list such as [{"loc":["body","x"],"msg":"…"}].
func (e *envelope) readViolations(list gjson.Result) {
	var b strings.Builder
	count := 0
	list.ForEach(func(_, v gjson.Result) bool {
		e.addFields(v, "type")
		if name := lastText(v.Get("loc")); name != "" {
			if e.param == "" {
				e.param = paramName(name)
			}
			b.WriteString(name + ": ")
		}
		b.WriteString(v.Get("msg").String() + " ")
		count++
		return count < maxElements && b.Len() < maxMessage
	})
	e.say(b.String())
}

func lastText(list gjson.Result) (last string) {
	count := 0
	list.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			last = v.Str
		}
		count++
		return count < maxElements
	})
	return last
}

// addFields adds the codes at some paths: text and whole numbers only.
func (e *envelope) addFields(o gjson.Result, paths ...string) {
	for _, p := range paths {
		e.addNumber(o.Get(p))
	}
}

func (e *envelope) addNumber(v gjson.Result) {
	switch v.Type {
	case gjson.String:
		e.addCode(v.Str)
	case gjson.Number:
		e.addCode(v.Raw)
	}
}

// telling reports whether a code says that something is wrong.
func telling(code gjson.Result) bool {
	switch code.Type {
	case gjson.Number:
		return code.Num != 0 && code.Num != 200
	case gjson.String:
		switch strings.ToLower(code.Str) {
		case "", "0", "200", "ok", "success":
			return false
		}
		return true
	}
	return false
}
