package app

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"backstop/internal/config"
	"backstop/secret"
)

// token is the admin plane's credential and where an operator finds it.
type token struct {
	value secret.Value
	shown bool   // printed with the dashboard URL, because Out is a terminal
	file  string // 0600 file that holds it, "" = none
}

// makeToken takes the configured token or makes one up: shown on a terminal,
// else kept in a file that only its owner may read.
func makeToken(cfg *config.Config, o Options, port string) (token, error) {
	if !cfg.Admin.Token.Empty() {
		return token{value: cfg.Admin.Token}, nil
	}
	raw := make([]byte, 24)
	_, _ = rand.Read(raw) // never fails: crypto/rand ends the process instead
	t := token{value: secret.New(base64.RawURLEncoding.EncodeToString(raw))}
	if o.Terminal {
		t.shown = true
		return t, nil
	}
	dir := o.StateDir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		dir = filepath.Join(cache, "backstop")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return t, fmt.Errorf("no place for the admin token: %s; set admin.token", dir)
	}
	t.file = filepath.Join(dir, "admin-token-"+port)
	if err := replaceFile(t.file, t.value.Reveal()+"\n"); err != nil {
		return t, fmt.Errorf("cannot write the admin token to %s; set admin.token", t.file)
	}
	return t, nil
}

// replaceFile writes a file that only its owner may read, without following
// whatever stood at its place.
func replaceFile(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if all went well
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return err
}
