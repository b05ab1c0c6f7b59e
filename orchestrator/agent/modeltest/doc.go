// Package modeltest is a fake model for tests with the real agent programs. It is a server on the
// loopback that follows a script in the prompt. It speaks the APIs of Anthropic (Messages), OpenAI
// (Responses and Chat Completions) and Google (Gemini), but only the parts that the programs need.
// Only tests import the package. It is not internal, because tests in cmd need it, too.
//
//	model := modeltest.Start(t)
//	cmd := exec.Command(modeltest.Find(t, "claude"), "-p")
//	cmd.Env = model.Env(t, "claude")
//	script := modeltest.Play(modeltest.WriteFile(path, "hello"), modeltest.Say("Done."))
//	cmd.Stdin = strings.NewReader(script.String())
//
// The model has no memory. The prompt contains the script, and the number of the assistant's turns
// after the script determines the next step. So one model can serve several agents at once, and a
// run that was killed and resumed finds its place. There is one exception to the rule that the
// model has no memory: a fault can end after a number of requests (Step.Times), and the model
// counts these requests.
package modeltest
