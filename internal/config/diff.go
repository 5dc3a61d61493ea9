package config

// Diff says in one line each what changes in effect from an old to a new
// configuration, in the words of the file. Keys and header values are named,
// never shown. No line: nothing changes.
func Diff(old, next *Config) []string {
	d := &diff{before: effectsOf(old), after: effectsOf(next)}
	d.changed()
	d.gone()
	return d.lines
}

type diff struct {
	before, after []effect
	lines         []string
	said          map[string]bool // groups that came or went, in one line each
}

func index(list []effect) (paths map[string]effect, groups map[string]bool) {
	paths, groups = make(map[string]effect, len(list)), map[string]bool{"": true}
	for _, e := range list {
		paths[e.path] = e
		groups[e.group] = true
	}
	return paths, groups
}

func (d *diff) say(line string) { d.lines = append(d.lines, line) }

// whole says once that a group came or went.
func (d *diff) whole(group, what string) {
	if !d.said[group] {
		d.said[group] = true
		d.say(group + ": " + what)
	}
}

// changed goes through what is set now.
func (d *diff) changed() {
	was, groups := index(d.before)
	d.said = map[string]bool{}
	for _, e := range d.after {
		o, ok := was[e.path]
		switch {
		case !groups[e.group]:
			d.whole(e.group, "added")
		case ok && o.value == e.value:
		case e.hidden:
			d.say(e.path + ": changed")
		case !ok && e.value == "": // nothing where nothing was
		case !ok:
			d.say(e.path + ": (none) -> " + e.value)
		default:
			d.say(e.path + ": " + o.value + " -> " + e.value)
		}
	}
}

// gone goes through what was set and is no longer.
func (d *diff) gone() {
	is, groups := index(d.after)
	d.said = map[string]bool{}
	for _, e := range d.before {
		_, ok := is[e.path]
		switch {
		case !groups[e.group]:
			d.whole(e.group, "removed")
		case ok:
		case e.hidden:
			d.say(e.path + ": removed")
		default:
			d.say(e.path + ": " + e.value + " -> (none)")
		}
	}
}
