package agent

import "strings"

// IsOutOfMoney reports whether a provider refuses for want of money, which no waiting mends,
// although it calls that a quota: OpenAI's insufficient_quota, with status 429.
func IsOutOfMoney(text string) bool {
	for _, words := range []string{"insufficient_quota", "exceeded your current quota", "Check your plan and billing"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
