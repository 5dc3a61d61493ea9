package wire

// refinement turns one ruling into another when the words say so.
type refinement struct {
	from  ruling
	words string
	to    ruling
}

// habit is what one vendor means where it differs from the others. Facts as
// of 2026-11, from the vendors' pages and public threads.
type habit struct {
	codes  codeTable
	words  []wordRule
	refine []refinement
	// numbered: messages end in the vendor's own code, "… (1008)".
	numbered bool
	// relayed: rulings for statuses that a relay passes on from behind itself,
	// where no key of ours is at fault.
	relayed map[int]ruling
}

// refinements hold for every vendor.
var refinements = []refinement{
	{rate, "request too large", oversize},
	{rate, "input or output tokens must be reduced", oversize},
}

var googleWords = []wordRule{
	{quota, on429 | on200, []string{"perday", "per day", "per_day"}},
	{rate, on429 | on200, []string{"current quota", "quota exceeded for", "exceeded the provisioned throughput"}},
}

var habits = map[string]habit{
	// "current quota" is said of every limit; the quotaId says which.
	"gemini": {words: googleWords},
	"vertex": {words: googleWords},

	"mistral": {codes: codeTable{"1300": rate, "3505": overload}},

	"openrouter": {codes: codeTable{"flagged_input": filter}},

	// insufficient_quota is the throttle on tokens per minute here, and so is
	// AllocationQuota unless it speaks of the free one.
	"dashscope": {
		codes: codeTable{
			"insufficient_quota": rate, "throttling.allocationquota": rate, "throttling.ratequota": rate,
			"model.notfound": model, "modelunavailable": overload, "commoditynotpurchased": model,
		},
		refine: []refinement{{rate, "free&allocated", quota}, {rate, "free tier", quota}, {rate, "free quota", quota}, {rate, "免费", quota}},
	},

	"zhipu": {codes: codeTable{
		"1000": auth, "1001": auth, "1002": auth, "1003": auth, "1004": auth, "1005": auth,
		"1100": auth, "1110": auth, "1111": auth, "1112": auth, "1113": quota, "1120": auth, "1121": auth,
		"1200": server, "1210": param, "1211": model, "1212": param, "1213": param, "1214": param, "1215": param,
		"1220": auth, "1221": model, "1222": param, "1230": server, "1231": conflict, "1234": server, "1261": tooLong,
		"1300": filter, "1301": filter, "1302": rate, "1303": rate, "1304": quota, "1305": overload, "1308": quota,
		"1309": quota, "1310": quota, "1311": model, "1312": overload, "1313": quota,
	}},

	// TPD is a day, all others are minutes or less.
	"moonshot": {
		refine: []refinement{{rate, "tpd", quota}},
		words:  []wordRule{{quota, on403 | on429, []string{"cycle limit", "usage limit", "billing cycle", "membership"}}},
	},

	"minimax": {numbered: true, codes: codeTable{
		"1000": server, "1001": late, "1002": rate, "1004": auth, "1008": quota, "1013": server, "1024": server,
		"1026": filter, "1027": filter, "1033": server, "1039": rate, "1041": rate, "1042": param, "2013": param,
		"2045": ramp, "2049": auth, "2056": quota,
	}},

	"qianfan": {codes: codeTable{
		"1": server, "2": overload, "3": param, "4": rate, "6": auth, "13": auth, "14": auth, "15": auth, "17": quota,
		"18": rate, "19": quota, "100": auth, "110": auth, "111": auth,
		"336000": server, "336001": param, "336002": param, "336003": param, "336004": auth, "336005": server,
		"336006": param, "336007": param, "336100": overload, "336103": tooLong, "336104": param, "336117": tooLong,
		"336501": rate, "336502": rate, "336503": rate, "336504": rate, "336505": rate,
	}},

	"siliconflow": {
		codes: codeTable{"20015": param, "30001": quota, "30003": model, "50501": overload, "50505": overload, "50507": server},
		words: []wordRule{{quota, on429, []string{"rpd limit", "tpd limit", "ipd limit"}}},
	},

	// The relay hides what its own upstream said; only the status is left.
	"one-api": {relayed: map[int]ruling{401: server, 402: server, 403: server, 429: overload}},
}
