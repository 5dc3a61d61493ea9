package importer

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"backstop/internal/config/tree"
)

var (
	environ    = regexp.MustCompile(`os\.environ/([A-Za-z_][A-Za-z0-9_]*)`)
	dollar     = regexp.MustCompile(`^\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?$|^\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}$`)
	knownKeys  = regexp.MustCompile(`(?i)\b(sk|pk|rk|gsk|xai|ghp|glpat|hf|pplx|nvapi|r8|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9]{12,}`)
	secretName = regexp.MustCompile(`(?i)(auth|key|token|secret|password|passwd|cookie|credential)`)
	wordMark   = regexp.MustCompile(`[^A-Z0-9]+`)
)

// vault hands out variable names for what stood in a file as it is. It keeps
// fingerprints only.
type vault struct {
	names map[[sha256.Size]byte]string
	taken map[string]bool
	needs []string
	bases []string // variables that hold an address
}

// newVault reserves the names that the file itself refers to.
func newVault(root *tree.Node) *vault {
	v := &vault{names: map[[sha256.Size]byte]string{}, taken: map[string]bool{}}
	root.Each(func(n *tree.Node) {
		for _, m := range environ.FindAllStringSubmatch(n.Text, 64) {
			v.taken[m[1]] = true
		}
	})
	return v
}

// need notes a variable that the written file reads.
func (v *vault) need(name string) string {
	if !slices.Contains(v.needs, name) {
		v.needs = append(v.needs, name)
		slices.Sort(v.needs)
	}
	v.taken[name] = true
	return "${" + name + "}"
}

// variable returns the name of the variable that a text is nothing but a
// reference to.
func variable(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if m := environ.FindStringSubmatch(text); m != nil && m[0] == text {
		return m[1], true
	}
	if m := dollar.FindStringSubmatch(text); m != nil {
		return m[1] + m[2], true
	}
	return "", false
}

// credential turns a credential into a reference: its own if it is one, else
// one to a variable called usual, or usual_2 and so on if another credential
// has that name already. literal says that it stood in the file.
func (v *vault) credential(text, usual string) (ref string, literal bool) {
	if name, ok := variable(text); ok {
		return v.need(name), false
	}
	sum := sha256.Sum256([]byte(text))
	name, known := v.names[sum]
	if !known {
		name = usual
		for i := 2; v.taken[name]; i++ {
			name = fmt.Sprintf("%s_%d", usual, i)
		}
		v.names[sum] = name
	}
	return v.need(name), true
}

// usual returns the reference to the variable that the other gateway reads by
// itself; another name if a credential of the file took that one.
func (v *vault) usual(name string) string {
	for _, owned := range v.names {
		if owned == name {
			return v.need(name + "_DEFAULT")
		}
	}
	return v.need(name)
}

// plain turns a text that is no credential into ours: references become
// references, and a dollar sign that means itself stays one.
func (v *vault) plain(text string) string {
	if name, ok := variable(text); ok {
		return v.need(name)
	}
	return strings.ReplaceAll(text, "${", "$${")
}

// looksSecret recognises keys by their beginning, and long runs of letters and
// digits that no name has.
func looksSecret(text string) bool {
	if knownKeys.MatchString(text) || strings.HasPrefix(strings.ToLower(text), "bearer ") {
		return true
	}
	letters, digits, run := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits++
			run++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
			run++
		default:
			letters, digits, run = 0, 0, 0
		}
		if run >= 24 && digits >= 4 && letters >= 4 {
			return true
		}
	}
	return false
}

// upper makes the name of a variable out of words.
func upper(words ...string) string {
	name := strings.Trim(wordMark.ReplaceAllString(strings.ToUpper(strings.Join(words, "_")), "_"), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "X_" + name
	}
	return name[:min(len(name), 60)]
}
