package app

import (
	"fmt"
	"net"
	"strings"

	"backstop/internal/config"
)

// startOnly are the settings that last as long as the process, as config.Diff
// begins its lines.
var startOnly = [...]string{"listen: ", "admin.listen: ", "admin.token: ", "metrics.listen: ", "state.file: ", "log.level: ", "log.format: "}

// later marks those of the changes of a reload that wait for the next start.
func later(changes []string) []string {
	for i, line := range changes {
		for _, setting := range startOnly {
			if strings.HasPrefix(line, setting) {
				changes[i] = line + " (at the next start)"
			}
		}
	}
	return changes
}

// guarded refuses a configuration without callers while the gateway listens
// where other machines reach it: listeners outlive the file that opened them.
func (a *App) guarded(cfg *config.Config) error {
	if len(cfg.Callers) > 0 {
		return nil
	}
	for _, ln := range a.data {
		if at, ok := ln.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
			return fmt.Errorf("callers: there are none, and until its next start the gateway listens on %s, which other machines reach; keep callers, or restart it", ln.Addr())
		}
	}
	return nil
}
