package redact

import "sync"

// shapes returns the read-only table of all shapes. The table is made for the first Redactor,
// because not every command needs one.
var shapes = sync.OnceValue(shapeTable)

var (
	wordChars = classOf(alnum + "_-")
	dotted    = alnum + "_-."
	hexDigits = classOf(digits + "abcdef")
)

// rule describes tokens. A token is one of the prefixes, followed by characters of the class. The
// field "least" is the smallest number of characters after the prefix.
type rule struct {
	least    int
	class    string
	prefixes []string
}

// anywhereRules lists the tokens that no other text resembles. Sources: the providers' own pages,
// and the patterns of GitHub's secret scanning.
var anywhereRules = []rule{
	// forges and registries
	{36, alnum, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"}},
	{40, alnum + "_", []string{"github_pat_"}},
	{20, dotted, []string{
		"glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "glft-", "glcbt-", "glimt-", "glagent-", "gloas-", "glffct-",
	}},
	{60, alnum + "_-=", []string{"ATCTT3", "ATATT3"}}, // Bitbucket and Atlassian
	{60, alnum + "_-", []string{"pypi-"}},
	{20, alnum + "_-", []string{"dckr_pat_", "dckr_oat_", "rubygems_", "CCIPAT_", "bkua_"}},
	// models
	{30, alnum, []string{"hf_", "api_org_"}},
	{40, alnum + "_-", []string{"lsv2_pt_", "lsv2_sk_", "tgp_v1_"}},
	// clouds
	{16, upper + digits, []string{"AKIA", "ASIA", "ABIA", "ACCA"}},
	{33, alnum + "_-", []string{"AIzaSy"}},
	{24, alnum + "_-", []string{"GOCSPX-"}},
	{30, dotted, []string{"ya29."}},
	{31, dotted + "~", []string{"7Q~", "8Q~"}}, // Azure, where three characters precede the prefix
	{24, dotted, []string{"hvs.", "hvb.", "dop_v1_", "doo_v1_", "pscale_tkn_", "tskey-", "AGE-SECRET-KEY-1"}},
	// chat and mail
	{10, alnum + "-", []string{
		"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xapp-",
	}},
	{24, alnum + "/", []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/"}},
	{60, alnum + "_-/", []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}},
	{50, dotted, []string{"SG."}},
	// payments and services
	{20, alnum, []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}},
	{24, alnum + "_-", []string{
		"shpat_", "shpss_", "glsa_", "lin_api_", "sntrys_", "sntryu_", "PMAK-", "NRAK-", "sq0atp-", "sq0csp-",
	}},
}

// wordStartRules lists the tokens that also occur in base64 or in names, but seldom at the start of
// a word.
var wordStartRules = []rule{
	{35, alnum + "_-", []string{"AIza"}},
	{32, alnum + "_-=", []string{"ATBB"}},
	{40, dotted, []string{"1//0"}},
	{32, alnum, []string{"gsk_", "r8_", "xai-"}},
	{40, alnum, []string{"pplx-", "sbp_", "ntn_", "pul-"}},
	{32, digits + "abcdef", []string{"dapi"}},
}

// slotCount assigns the slots of readers while the table is made.
type slotCount int

func (s *slotCount) take() int {
	if *s++; *s > slots {
		panic("redact: more slots are used than a state has")
	}
	return int(*s) - 1
}

func shapeTable() []*shape {
	var slot slotCount
	tokens := append(ruleShapes(anywhereRules, false, &slot), ruleShapes(wordStartRules, true, &slot)...)
	all := append(tokens, formats(&slot)...)
	all = append(all, assignments(&slot)...)
	return append(all, wrappedShapes(tokens, &slot)...)
}

func ruleShapes(rules []rule, word bool, slot *slotCount) (all []*shape) {
	for _, u := range rules {
		in, place := classOf(u.class), slot.take()
		for _, p := range u.prefixes {
			all = append(all, &shape{prefix: p, word: word, length: func(r *reader) int {
				return r.tokenEnd(len(p), in, u.least, place)
			}})
		}
	}
	return all
}
