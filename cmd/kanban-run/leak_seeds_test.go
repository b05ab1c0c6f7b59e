//go:build linux

package main

import "slices"

// leakSeed is an input of the fuzz test.
type leakSeed struct {
	variable, setting string
	script            []byte
}

// leakSeeds say every form in every place, and put every secret into every setting.
func leakSeeds() (seeds []leakSeed) {
	secrets := []string{
		"hunter2-hunter2", `it's & <b> % +x`, "tab\tline\nsecond line", "ünïcödé-😀", "c2VjcmV0IHNl+/8=", "https://u:p%40ss@host/?a=b&c",
		`C:\temp\new\\dir`, `"<'&>"`, "a''''b", "\u2028\x7f\x1b[0m", "plus+plus space", "sl/as/he/s//", "-----BEGIN KEY-----\nMIIEow==\n-----END KEY-----",
		"{\"a\":[1,\"x\"]}", "\\", "x", "", "\xff\xfe\x80", "`$(id)`", "%25%41",
	}
	form := 0
	for i, secret := range secrets {
		s := leakSeed{secret, secrets[(i+7)%len(secrets)], []byte{byte(i * 37), 1 << (i % 8), 0, byte(i * 5), byte(i * 3)}}
		for call := range 4 {
			s.script = append(s.script, leakSeedCall(i, call, &form)...)
		}
		seeds = append(seeds, s)
	}
	return append(seeds, leakSpecials()...)
}

// leakSpecials are what the others do not come to, or what was once found.
func leakSpecials() []leakSeed {
	const long = "a-secret-that-is-longer-than-what-is-shown-of-any-text"
	special := func(variable string, how, in byte, acts ...leakAct) leakSeed {
		s := leakSeed{variable, "a second secret", []byte{how, in, 0, 10, 5}}
		for _, a := range acts {
			s.script = append(s.script, a.place, a.form, a.cut)
		}
		return s
	}
	act := func(place string, form string, cut byte) leakAct {
		p := slices.IndexFunc(leakPlaces(), func(p leakPlace) bool { return p.name == place })
		f := slices.IndexFunc(leakForms(), func(f leakForm) bool { return f.name == form })
		if p < 0 || f < 0 {
			panic("no place " + place + ", or no form " + form) // only when this file is wrong
		}
		return leakAct{byte(p), byte(2 * f), cut}
	}
	board := act("a key of the board, twice", "plain", 0)
	board.form++ // the other secret
	return []leakSeed{
		special(long, 0, 0, board, act("message", "plain", 0)),
		special(long, 0, 0, act("message", "plain", 0), act("tasks", "plain", 0), act("a file's name", "plain", 0), act("next_task", "plain", 0)),
		special(long, leakOnce, leakInInstruction|leakNoRetries, act("a key, twice", "plain", 0), act("message", "plain", 0)),
		special(long, leakOnce, 0, act("message", "plain", 0)),
		special(long, 0, 0, act("garbage", "plain", 0), act("behind the reply", "plain", 0), act("status", "plain", 0)),
		special(long, 0, 0, act("where the last lines of stderr begin", "plain", 20), act("garbage", "hex", 0), act("where an excerpt ends", "plain", 20)),
		special(long, leakBound, 0, act("more than is read", "plain", 40), act("more than is read", "percent, upper case", 80)),
		special("not\xffUTF-8\xfe", 0, 0, act("a line of stderr", "plain", 0), act("garbage", "plain", 0), act("message, not escaped", "plain", 0)),
	}
}

// leakSeedCall is one call of the agent: three acts on its streams, one that stops the
// board in every second call, and a reply. In the first seeds an act says all forms of a
// secret, in the others one.
func leakSeedCall(seed, call int, form *int) (acts []byte) {
	act := func(place int) {
		which := 2*len(leakForms()) + *form&1
		if seed >= 14 {
			which = *form % (2 * len(leakForms()))
		}
		*form++
		acts = append(acts, byte(place), byte(which), byte(seed*29+len(acts)*53))
	}
	aside, board, last := len(streams()), len(boards()), len(leakPlaces())-len(streams())-len(boards())
	for n := range 3 {
		act((seed + 3*call + n) % aside)
	}
	if call%2 == 1 {
		act(aside + (2*seed+call/2)%board)
	}
	*form += seed / 7
	act(aside + board + (4*seed+call)%last)
	return acts
}
