// Package api serves clients written for the widely used OpenAI API, which can be pointed at
// this server.
//
//	GET  /v1/models            the model
//	POST /v1/completions       continue a text
//	POST /v1/chat/completions  continue a conversation
//	POST /tokenize             a text as tokens, as in vLLM and llama.cpp
//	POST /detokenize           and back
//
// A request is a run like a learner's: its fields are settings of [infer.Settings], checked by
// the same table of knobs, and [runs.Registry] runs it among the others. So there is no second
// sampler, and a request writes the same as the Loop with the same settings. Fields that would
// change an answer in ways not supported here are refused by name, never ignored; others.go has
// the table of fields that are accepted without effect.
//
// request.go reads a request, write.go carries it out, answer.go and stream.go send the result,
// problem.go has the errors, and front.go wraps the server's gate: refusals from packages that
// do not know this API are converted to its format there.
//
// page.go is the page /api: examples for this server (snippet.go), and one request handled like
// a client's. glass.go keeps clients' newest requests for the pages that show them, and
// glass_feed.go shows them while they are being answered.
package api
