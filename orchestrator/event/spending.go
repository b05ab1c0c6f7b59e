package event

import (
	"fmt"
	"math"
	"strings"
)

// Spending is the use of tokens and money by one attempt, as the tool reports it. It is not summed
// up over the attempts of a session.
type Spending struct {
	Input  int64  `json:"input_tokens"`
	Cached int64  `json:"cached_tokens"` // the part of Input that was read from a cache
	Output int64  `json:"output_tokens"`
	Cost   *int64 `json:"cost_microusd,omitempty"` // in millionths of a US dollar; nil if unknown

	Partial bool `json:"partial,omitempty"` // the use of a part of the attempt is not known
	Free    bool `json:"free,omitempty"`    // the attempt asked no model
}

// IsPriced reports whether the whole cost of the attempt is known.
func (s *Spending) IsPriced() bool {
	return s != nil && (s.Free || s.Cost != nil && !s.Partial)
}

// Used is the sum of the use by several attempts. The sums leave out unknown values. Therefore the
// fields Told and Priced count the attempts whose values are known.
type Used struct {
	Attempts int   `json:"attempts"`          // all attempts; a running one counts only after [Used.AddOpen]
	Told     int   `json:"told"`              // attempts whose tokens are known
	Partial  int   `json:"partial,omitempty"` // the part of Told of which some tokens are not known
	Priced   int   `json:"priced"`            // attempts whose whole cost is known
	Input    int64 `json:"input_tokens"`
	Cached   int64 `json:"cached_tokens"`
	Output   int64 `json:"output_tokens"`
	Cost     int64 `json:"cost_microusd"`
	Millis   int64 `json:"millis"` // the agents' working time
}

// Add adds an attempt. The parameter "spent" is nil if the tool of the attempt does not report the
// use of tokens and money.
func (u *Used) Add(millis int64, spent *Spending) {
	u.Attempts++
	if spent != nil && !spent.Free {
		u.Told++
		if spent.Partial {
			u.Partial++
		}
	}
	if spent.IsPriced() {
		u.Priced++
	}
	u.Millis = sum(u.Millis, millis)
	if spent == nil {
		return
	}
	u.Input, u.Cached, u.Output = sum(u.Input, spent.Input), sum(u.Cached, spent.Cached), sum(u.Output, spent.Output)
	if spent.Cost != nil {
		u.Cost = sum(u.Cost, *spent.Cost)
	}
}

// AddOpen adds an attempt that has no known end, and so no known cost.
func (u *Used) AddOpen() { u.Attempts++ }

// Plus returns the sum of u and o.
func (u Used) Plus(o Used) Used {
	return Used{
		Attempts: u.Attempts + o.Attempts,
		Told:     u.Told + o.Told,
		Partial:  u.Partial + o.Partial,
		Priced:   u.Priced + o.Priced,
		Input:    sum(u.Input, o.Input),
		Cached:   sum(u.Cached, o.Cached),
		Output:   sum(u.Output, o.Output),
		Cost:     sum(u.Cost, o.Cost),
		Millis:   sum(u.Millis, o.Millis),
	}
}

// sum adds a and b, but returns at most the greatest int64. A negative b counts as zero, so that a
// forged journal cannot reduce the use.
func sum(a, b int64) int64 {
	if b = max(b, 0); a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Money returns the cost as on a bill, such as "$0.0123". It returns for example "at least $0.12"
// if the cost of some attempts is not known, and "unknown" if no cost is known.
func (u Used) Money() string {
	switch {
	case u.Priced < u.Attempts && u.Cost == 0:
		return "unknown"
	case u.Priced < u.Attempts:
		return atLeast + Dollars(u.Cost)
	default:
		return Dollars(u.Cost)
	}
}

// Tokens returns the numbers of input and output tokens, such as "12.3k in/1.2k out", or "" if they
// are not known. If some tokens are not known, it returns for example "at least 12.3k in/1.2k out".
func (u Used) Tokens() string {
	switch {
	case u.Told == 0:
		return ""
	case u.Partial > 0:
		return atLeast + tokens(u.Input, u.Output)
	default:
		return tokens(u.Input, u.Output)
	}
}

// atLeast precedes a number of which a part is not known.
const atLeast = "at least "

// suffix returns the use in parentheses. It returns "" if the tool does not report the use, or if
// the attempt asked no model.
func (s *Spending) suffix() string {
	if s == nil || s.Free {
		return ""
	}
	return " (" + s.String() + ")"
}

// String returns cost and tokens, such as "$0.0123, 12.3k in/1.2k out". It returns "" if no tokens
// are known.
func (u Used) String() string {
	switch {
	case u.Told == 0:
		return ""
	case u.Priced == 0 && u.Cost == 0:
		return "cost unknown, " + u.Tokens()
	case strings.HasPrefix(u.Money(), atLeast):
		return u.Money() + ", " + strings.TrimPrefix(u.Tokens(), atLeast) // said once of both
	default:
		return u.Money() + ", " + u.Tokens()
	}
}

// String returns cost and tokens of one attempt.
func (s Spending) String() string {
	text := tokens(s.Input, s.Output)
	if s.Cost != nil {
		text = Dollars(*s.Cost) + ", " + text
	}
	if s.Partial {
		text = atLeast + text
	}
	return text
}

func tokens(in, out int64) string { return fmt.Sprintf("%s in/%s out", thousands(in), thousands(out)) }

func thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
}

// Dollars renders millionths of a US dollar. From a dollar on it renders whole cents. Below a
// dollar it renders up to four decimals, because most attempts cost cents.
func Dollars(micros int64) string {
	switch {
	case micros > 0 && micros < 50:
		return "under $0.0001"
	case micros < 999_950:
		n := (micros + 50) / 100
		if n%100 == 0 {
			return fmt.Sprintf("$0.%02d", n/100)
		}
		return fmt.Sprintf("$0.%04d", n)
	default:
		n := micros/10_000 + (micros%10_000+5_000)/10_000
		return fmt.Sprintf("$%d.%02d", n/100, n%100)
	}
}
