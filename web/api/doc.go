// Package api implements the widely used OpenAI API, so that clients written for it can use this
// server.
//
//	GET  /v1/models            describe the model
//	POST /v1/completions       continue a text
//	POST /v1/chat/completions  continue a conversation
//	POST /tokenize             convert a text to tokens, as in vLLM and llama.cpp
//	POST /detokenize           convert tokens to a text
//
// A request is executed as a run, just like a learner's: its fields are settings of
// [infer.Settings], checked against the same table of knobs, and [runs.Registry] schedules it
// together with the learners' runs. The API therefore shares the sampler, and a request generates
// the same text as the Loop with the same settings. If a field would change the answer in a way
// that is not supported, the request is refused with an error that names the field. The table in
// others.go lists the fields that are accepted without effect.
//
// The code in request.go parses a request, write.go carries it out, answer.go and stream.go send
// the result, and problem.go defines the errors. front.go wraps the server's gate and converts
// refusals from packages that do not know this API to its format.
//
// page.go implements the /api page, which has examples for this server (snippet.go) and sends one
// request as a client would. glass.go stores clients' newest requests for the pages that show them,
// and glass_feed.go updates these pages while the requests are being answered.
package api
