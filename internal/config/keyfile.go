package config

import (
	"errors"
	"fmt"
	"strings"

	"backstop"
	"backstop/internal/config/tree"
	"backstop/secret"
)

// keyFile notes the file that the latest key of an upstream was read from: a
// key that is nothing but one reference can be read again.
func (b *planBuilder) keyFile(u *backstop.Upstream, at *tree.Node) {
	path, file := "", false
	if at != nil && at.Kind == tree.Scalar {
		path, file = strings.CutPrefix(at.Text, "${file:")
	}
	path, whole := strings.CutSuffix(path, "}")
	if !file || !whole || strings.Contains(path, "}") {
		path = ""
	} else {
		path = b.resolve(strings.TrimSpace(path))
	}
	if path != "" && u.KeyFiles == nil {
		u.KeyFiles = make([]string, len(u.Keys)-1)
	}
	if u.KeyFiles != nil {
		u.KeyFiles = append(u.KeyFiles, path)
	}
}

// ReadKey reads the key in a file that a plan names, as loading does. The
// error says neither the path nor anything that the file holds.
func ReadKey(path string) (secret.Value, error) {
	data, err := readBounded(path)
	if err != nil {
		return secret.Value{}, fmt.Errorf("a key file cannot be read again: %s", reason(err))
	}
	key := secret.New(strings.TrimRight(string(data), "\r\n"))
	if key.Empty() || badCredential(key) != "" {
		return secret.Value{}, errors.New("a key file was read again and holds no key; put the key into it")
	}
	return key, nil
}
