// Package api answers the clients of other programs: those who speak the widely used
// OpenAI API can point their client here.
//
//	GET  /v1/models            the model
//	POST /v1/completions       a text goes on
//	POST /v1/chat/completions  a conversation goes on
//	POST /tokenize             a text as tokens, as vLLM and llama.cpp have it
//	POST /detokenize           and back
//
// A request is a run like a learner's: its fields are settings of [infer.Settings],
// checked by the same table of knobs, and [runs.Registry] plays it among the others. So
// there is no second sampler, and what a request writes is what the Loop shows for the
// same settings. What would change an answer and the program cannot do is refused by the name of
// its field, never ignored; others.go has the table of fields that are accepted without effect.
//
// request.go reads a request, write.go carries it out, answer.go and stream.go say what
// came of it, problem.go says why nothing did, and front.go stands before the server's
// gate: refusals of rooms that know nothing of this API get its shape there.
//
// page.go is the page /api: examples for this very server (snippet.go), and one request
// that goes the way that a client's goes. glass.go keeps the newest requests of clients for
// the pages that look at them, and glass_feed.go shows them while they are being answered.
package api
