package mock

// usage-none is healthy and does not say what it cost.
func usageNoneFault(s spec) (player, error) {
	return func(x *exchange) {
		x.reply.noUsage = true
		x.answer()
	}, s.none()
}
