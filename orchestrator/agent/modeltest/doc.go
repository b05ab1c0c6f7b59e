// Package modeltest is a fake model for tests with the real agent programs: a server on the
// loopback that speaks the APIs of Anthropic (Messages), OpenAI (Responses and Chat Completions)
// and Google (Gemini), as far as the programs need them, and follows a script in the prompt. Only
// tests import it: those of the adapters, and those of cmd, for which it is not internal.
//
//	model := modeltest.Start(t)
//	cmd := exec.Command(modeltest.Find(t, "claude"), "-p")
//	cmd.Env = model.Env(t, "claude")
//	script := modeltest.Play(modeltest.WriteFile(path, "hello"), modeltest.Say("Done."))
//	cmd.Stdin = strings.NewReader(script.String())
//
// The model has no memory. The script travels in the prompt, and the number of the assistant's
// turns since gives the next step: so several agents can be served at once, and a run that was
// killed and resumed finds its place. The exception is a fault that passes after a number of
// requests (Step.Times), which is counted.
package modeltest
