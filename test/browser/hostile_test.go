package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// evil are strings that would be markup, script or style if they were read as
// such anywhere.
var evil = []string{
	`<img src=x onerror=window.broken=1>`, `"><script>window.broken=1</script>`, `<svg/onload=window.broken=1>`, `javascript:window.broken=1`,
	`</td></tr></table><iframe srcdoc="<script>parent.broken=1</script>">`, `{{constructor.constructor('window.broken=1')()}}`, `${window.broken=1}`, `'; window.broken=1; '`,
	"\u202egnp.exe\u2066", "__proto__", "constructor", "hasOwnProperty",
}

func TestHostileStringsCreateNoNodes(t *testing.T) {
	// Names that an operator could have pasted from somewhere.
	mean := strings.NewReplacer(`"*"`, `"*"`, "backup-model", `<img src=x onerror=window.broken=2>`,
		"The assistant is busy", "<script>window.broken=3</script>").Replace(text)
	h := newGateway(t, mean)
	for _, fault := range []string{"ok", "503", "html", "error-in-200"} {
		h.set(h.primary, fault)
		for i, name := range evil {
			req, _ := http.NewRequest("POST", h.URL()+"/v1/chat/completions", strings.NewReader(fmt.Sprintf(`{"model":%s,"messages":[{"role":"user","content":"hi"}]}`, quoted(name))))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("X-Request-Id", name)
			req.Header.Set("User-Agent", name)
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			} else if i >= 0 {
				t.Fatal(err)
			}
		}
	}
	p := open(t, h.dashboard())
	p.wait("the first screen", "document.querySelector('.tile')")
	quiet := func(where string) {
		t.Helper()
		bad := ask[string](p, `(() => {
		  if (window.broken) return 'a script ran: ' + window.broken;
		  const app = document.getElementById('app');
		  const found = app.querySelector('img, script, iframe, object, embed, style, link, form, [onerror], [onload], [srcdoc], a[href^="javascript"]');
		  if (found) return 'a node was made: ' + found.outerHTML;
		  const hrefs = [...app.querySelectorAll('a')].map((a) => a.getAttribute('href')).filter((x) => !x.startsWith('#'));
		  return hrefs.length ? 'a link leads away: ' + hrefs[0] : '';
		})()`)
		if bad != "" {
			t.Errorf("%s: %s", where, bad)
		}
	}
	quiet("now")
	for _, at := range []string{"upstreams", "calls", "config", "drill"} {
		ask[bool](p, "location.hash = '#/"+at+"', true")
		p.wait("the screen "+at, "document.querySelector('nav a[aria-current]').getAttribute('href') === '#/"+at+"' && document.querySelector('main .panel')")
		quiet(at)
	}
	ask[bool](p, "location.hash = '#/calls', true")
	p.wait("the calls", "document.querySelectorAll('tbody tr').length >= 40")
	quiet("calls")
	if said := p.text("tbody"); !strings.Contains(said, "<img src=x onerror=window.broken=1>") {
		t.Errorf("the model's name is not shown as it is:\n%.500s", said)
	}
	if said := p.text("tbody"); strings.Contains(said, "\u202e") || !strings.Contains(said, `\u202egnp.exe\u2066`) {
		t.Errorf("a name that turns the text around is not shown as what it is")
	}
	p.shot("calls-hostile")
	for i := range 5 {
		ask[bool](p, "location.hash = '#/calls', true")
		p.wait("the calls", "document.querySelectorAll('tbody tr').length >= 40")
		ask[bool](p, fmt.Sprintf("document.querySelectorAll('tbody a')[%d].click() || true", i*9))
		p.wait("the timeline", "document.querySelector('.timeline')")
		quiet("why")
	}
	// What stands in the address is an id at most.
	for _, name := range evil {
		ask[bool](p, "location.hash = '#/calls/' + encodeURIComponent("+quoted(name)+"), true")
		p.wait("a word about "+name, "document.querySelector('main [role=alert], .timeline')")
		quiet("why " + name)
		ask[bool](p, "location.hash = '#/calls?tier=' + encodeURIComponent("+quoted(name)+"), true")
		p.wait("the list again", "document.querySelector('.calls')")
		quiet("calls of " + name)
	}
	ask[bool](p, "location.hash = '#/%E0%A4%A/%E0%A4%A', true")
	p.wait("the first screen at a broken address", "document.querySelector('#verdict')")
	p.clean("404")
}

// quoted is a JavaScript or JSON string.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' || r == '\\' || r < ' ' || r > '~' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
