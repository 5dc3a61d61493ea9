package backstop

// Plan is the validated, immutable configuration of an engine.
type Plan struct {
	Upstreams []Upstream
	Routes    []Route
	Seed      uint64 // of every random choice the engine makes
}

// Upstream finds an upstream by its config name, nil if there is none.
func (p *Plan) Upstream(name string) *Upstream {
	for i := range p.Upstreams {
		if p.Upstreams[i].Name == name {
			return &p.Upstreams[i]
		}
	}
	return nil
}

// Route finds the first route that matches a model name, nil if none does.
func (p *Plan) Route(model string) *Route {
	for i := range p.Routes {
		if p.Routes[i].Matches(model) {
			return &p.Routes[i]
		}
	}
	return nil
}
