package secret_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"backstop/secret"
)

const text = "sk-not-a-real-key"

// The places where a credential may sit when somebody prints its holder.
type (
	exported struct{ Key secret.Value }
	hidden   struct {
		key  secret.Value
		ptr  *secret.Value
		list []secret.Value
		dict map[string]secret.Value
		any  any
	}
)

func holders() map[string]any {
	v := secret.New(text)
	h := hidden{v, &v, []secret.Value{v}, map[string]secret.Value{"k": v}, v}
	return map[string]any{
		"the value itself":        v,
		"a pointer to it":         &v,
		"a slice of it":           []secret.Value{v},
		"a map of it":             map[string]secret.Value{"k": v},
		"an exported field":       exported{v},
		"a pointer to a struct":   &exported{v},
		"unexported fields":       h,
		"a pointer to unexported": &h,
		"an interface":            []any{v, &v},
	}
}

// assertHidden fails when printed holds the credential as text or in the hex
// and decimal forms that fmt knows for bytes.
func assertHidden(t *testing.T, printed string) {
	t.Helper()
	for _, form := range []string{text, fmt.Sprintf("%x", text), fmt.Sprintf("%X", text), fmt.Sprintf("% x", text), fmt.Sprintf("%q", text)} {
		if strings.Contains(printed, form) {
			t.Fatalf("the credential is printed: %s", printed)
		}
	}
}

func TestNoVerbFlagOrHolderPrintsTheCredential(t *testing.T) {
	for name, holder := range holders() {
		t.Run(name, func(t *testing.T) {
			for verb := rune('A'); verb <= 'z'; verb++ {
				for _, flags := range []string{"", "+", "#", "-20", "020", " ", "+#", ".3", "[1]"} {
					format := "%" + flags + string(verb)
					assertHidden(t, fmt.Sprintf(format, holder))
				}
			}
			assertHidden(t, fmt.Sprint(holder))
			assertHidden(t, fmt.Sprintln("key:", holder))
			assertHidden(t, fmt.Errorf("failed with %v", holder).Error())
		})
	}
}

func TestEveryOrdinaryVerbPrintsTheMask(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%t", "%c", "%U", "%e", "%b"} {
		if got := fmt.Sprintf(format, secret.New(text)); got != "[secret]" {
			t.Errorf("%s prints %q", format, got)
		}
	}
	if got := fmt.Sprintf("%#v", exported{secret.New(text)}); got != "secret_test.exported{Key:[secret]}" {
		t.Errorf("%%#v of a struct prints %q", got)
	}
	if v := secret.New(text); v.String() != "[secret]" || v.GoString() != "[secret]" {
		t.Error("String or GoString print something else than the mask")
	}
}

func TestNoEncoderWritesTheCredential(t *testing.T) {
	for name, holder := range holders() {
		t.Run(name, func(t *testing.T) {
			encoded, err := json.Marshal(holder)
			if err != nil {
				t.Fatal(err)
			}
			assertHidden(t, string(encoded))
		})
	}
	encoded, err := json.Marshal(exported{secret.New(text)})
	if err != nil || string(encoded) != `{"Key":"[secret]"}` {
		t.Errorf("JSON is %s, %v", encoded, err)
	}
	encoded, err = xml.Marshal(exported{secret.New(text)})
	if err != nil || string(encoded) != `<exported><Key>[secret]</Key></exported>` {
		t.Errorf("XML is %s, %v", encoded, err)
	}
}

func TestNoLogHandlerWritesTheCredential(t *testing.T) {
	var out bytes.Buffer
	handlers := map[string]slog.Handler{
		"text": slog.NewTextHandler(&out, nil),
		"JSON": slog.NewJSONHandler(&out, nil),
	}
	for handler, h := range handlers {
		for name, holder := range holders() {
			t.Run(handler+" of "+name, func(t *testing.T) {
				out.Reset()
				slog.New(h).Info("starting", "key", holder, slog.Group("upstream", "key", holder))
				if out.Len() == 0 {
					t.Fatal("nothing was logged")
				}
				assertHidden(t, out.String())
			})
		}
	}
}

func TestAnErrorThatWrapsAHolderStaysMasked(t *testing.T) {
	err := errors.Join(errors.New("dial"), fmt.Errorf("upstream %v", exported{secret.New(text)}))
	assertHidden(t, err.Error())
}

func TestRevealGivesBackWhatNewTook(t *testing.T) {
	for _, want := range []string{"", "x", text, "ключ", "a\x00b\n"} {
		v := secret.New(want)
		if v.Reveal() != want || v.Len() != len(want) || v.Empty() != (want == "") {
			t.Errorf("%q came back as %q, length %d, empty %v", want, v.Reveal(), v.Len(), v.Empty())
		}
	}
	var zero secret.Value
	if !zero.Empty() || zero.Reveal() != "" || zero.Len() != 0 || fmt.Sprint(zero) != "[secret]" {
		t.Error("the zero Value is not an empty secret")
	}
}

func TestEqualComparesTheText(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b secret.Value
		want bool
	}{
		{"the same text twice", secret.New(text), secret.New(text), true},
		{"another text of the same length", secret.New("abc"), secret.New("abd"), false},
		{"a prefix", secret.New("abc"), secret.New("abcd"), false},
		{"empty and zero", secret.New(""), secret.Value{}, true},
		{"empty and not", secret.Value{}, secret.New("x"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.a.Equal(tt.b) != tt.want || tt.b.Equal(tt.a) != tt.want || (tt.a.Sum() == tt.b.Sum()) != tt.want {
				t.Fatalf("Equal is not %v both ways", tt.want)
			}
			if reflect.DeepEqual(tt.a, tt.b) != tt.want {
				t.Fatal("reflect.DeepEqual disagrees; plans are compared with it")
			}
		})
	}
}

func TestSecretsCannotBeComparedWithTheOperator(t *testing.T) {
	if reflect.TypeFor[secret.Value]().Comparable() {
		t.Fatal("== compiles on secrets and would compare in variable time")
	}
}

func Example() {
	key := secret.New("sk-not-a-real-key")
	upstream := struct {
		Name string
		Key  secret.Value
	}{"primary", key}

	fmt.Printf("%+v\n", upstream)
	fmt.Println("Authorization: Bearer", len(key.Reveal()), "bytes")
	// Output:
	// {Name:primary Key:[secret]}
	// Authorization: Bearer 17 bytes
}
