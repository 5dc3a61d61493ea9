package scenario

import (
	"strings"
	"time"

	"backstop"
)

// verdicts say what the engine needs to know of a logged outcome besides its
// words. What is not listed counts for nobody and goes on.
var verdicts = map[string]backstop.Outcome{
	"ok":              {Class: backstop.OK},
	"hang":            {Class: backstop.Hang, Counts: backstop.CountsModel, NextTier: true},
	"limited":         {Class: backstop.Limited, Park: backstop.ParkKey, NextTier: true},
	"limited/ramp":    {Class: backstop.Limited, Park: backstop.ParkUpstream, NextTier: true},
	"broken":          {Class: backstop.Broken, Counts: backstop.CountsModel, NextTier: true},
	"broken/dns":      {Class: backstop.Broken, Counts: backstop.CountsEndpoint, NextTier: true},
	"broken/dial":     {Class: backstop.Broken, Counts: backstop.CountsEndpoint, NextTier: true},
	"broken/tls":      {Class: backstop.Broken, Counts: backstop.CountsEndpoint, NextTier: true},
	"broken/connect":  {Class: backstop.Broken, Kind: backstop.KindConnect, NextTier: true},
	"broken/reset":    {Class: backstop.Broken, Counts: backstop.CountsModel, RetrySame: true, NextTier: true},
	"broken/server":   {Class: backstop.Broken, Counts: backstop.CountsModel, RetrySame: true, NextTier: true},
	"broken/timeout":  {Class: backstop.Broken, Counts: backstop.CountsModel, RetrySame: true, NextTier: true},
	"broken/conflict": {Class: backstop.Broken, RetrySame: true, NextTier: true},
	"garbled":         {Class: backstop.Garbled, Counts: backstop.CountsModel, NextTier: true},
	"garbled/json":    {Class: backstop.Garbled, Counts: backstop.CountsQuality, NextTier: true},
	"garbled/blank":   {Class: backstop.Garbled, NextTier: true},
	"refused":         {Class: backstop.Refused},
	"rejected":        {Class: backstop.Rejected},
	"rejected/model":  {Class: backstop.Rejected, Park: backstop.ParkUpstream, NextTier: true},
	"canceled":        {Class: backstop.Canceled, Kind: backstop.KindCaller},
}

// outcomeOf reads class/kind as the gateway logs it.
func outcomeOf(words string, status int, hint time.Duration) backstop.Outcome {
	class, kind, _ := strings.Cut(words, "/")
	o, ok := verdicts[words]
	if !ok {
		o, ok = verdicts[class]
	}
	if !ok {
		o = backstop.Outcome{Class: backstop.Canceled, NextTier: true}
	}
	if o.Kind == "" {
		o.Kind = backstop.Kind(kind)
	}
	o.Status, o.Hint, o.HasHint = status, hint, hint > 0
	if o.Class == backstop.Broken && hint > 0 {
		o.Park, o.RetrySame = backstop.ParkUpstream, false
	}
	o.InputTokens, o.OutputTokens = -1, -1
	return o
}
