package fit

import (
	"encoding/json"
	"maps"
	"slices"

	"backstop"
)

// Params are the parameters of a request that is being fitted.
type Params interface {
	Rename(from, to string)
	Drop(name string) bool
	Set(name, raw string)
}

// Apply renames, drops and sets parameters, in this order and within each in
// a fixed one. Renames see the caller's names, drops and sets the new ones.
//
// Core parameters are the plan's and the room's business: no quirk touches
// them. own is a parameter's name in this dialect, nil = the same.
//
// It returns the parameters that were there and are left out. A stream's
// options are none of them: whether there are any is the gateway's business.
func Apply(q *backstop.Quirks, o Params, core func(name string) bool, own func(name string) string) (dropped []string) {
	if own == nil {
		own = func(name string) string { return name }
	}
	for _, from := range slices.Sorted(maps.Keys(q.RenameParams)) {
		if to := own(q.RenameParams[from]); !core(from) && !core(to) && to != "" {
			o.Rename(own(from), to)
		}
	}
	for _, param := range q.DropParams {
		if core(param) {
			continue
		}
		if name := own(param); o.Drop(name) && name != "stream_options" && !slices.Contains(dropped, name) {
			dropped = append(dropped, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.SetParams)) {
		if core(name) {
			continue
		}
		if raw, err := json.Marshal(q.SetParams[name]); err == nil {
			o.Set(own(name), string(raw))
		}
	}
	return dropped
}
