// Package modeltest is a fake model for tests with the real agent programs: a server on the loopback that speaks the APIs of
// Anthropic (Messages), OpenAI (Responses and Chat Completions) and Google (Gemini), as far as the programs need them, and does
// what a script in the prompt says. Only tests import it.
//
//	model := modeltest.Start(t)
//	cmd := exec.Command(modeltest.Find(t, "claude"), "-p")
//	cmd.Env = model.Env(t, "claude")
//	cmd.Stdin = strings.NewReader(modeltest.Play(modeltest.WriteFile(path, "hello"), modeltest.Say("Done.")).String())
//
// The model has no memory. The script travels inside the prompt, and which of its steps is played follows from how often the
// assistant has spoken since: so several agents can be served at once, and a run that was killed and goes on finds its place.
// The one exception is a fault that passes after a number of requests (Step.Times): it is counted.
package modeltest
