package agent

import "strings"

// IsOutOfMoney reports whether a provider's text means that the account has no money left, which
// waiting does not mend. OpenAI calls this a quota: insufficient_quota, with status 429.
func IsOutOfMoney(text string) bool {
	for _, words := range []string{"insufficient_quota", "exceeded your current quota", "Check your plan and billing"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
