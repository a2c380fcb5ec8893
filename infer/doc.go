// Package infer runs a small transformer and exposes each step of its computation.
//
// A [Model] holds the weights, shared and read-only. A [Cache] holds one text's keys and values.
// [Model.Forward] reads new tokens after those in a cache, and [Model.Logits] scores every token of
// the vocabulary as the next token.
//
// A [Loop] generates text with them, one stage at a time. Each turn of the loop generates one token
// and has seven stages:
//
//	forward → logits → softmax → filter → sample → append → cache
//
// [Loop.Next] runs the next stage and returns it as a [Stage]: a plain value that owns its data,
// with the values that a page shows and the cost of the stage. Every turn is kept as a [Step],
// which stores the logits. Pure functions derive everything else from the logits on demand. A [Log]
// holds everything needed to run the same text again, bit for bit.
//
// This package does not depend on pages, sockets or learners.
package infer
