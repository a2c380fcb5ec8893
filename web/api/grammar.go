package api

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tokenbytoken/viz/infer/grammar"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

// readGrammar reads the constraint on the generated text from one of three fields: response_format
// (the published API), json_schema (llama.cpp), or regex (a regular expression).
func (q *request) readGrammar(f *terms.Fields) error {
	var given string // name of the field
	for _, name := range []string{"response_format", "json_schema", "regex"} {
		if !f.Has(name) {
			continue
		}
		text, at, err := grammarIn(name, f)
		switch {
		case err != nil:
			return err
		case text == "":
			continue
		case given != "":
			return wrong(name, "invalid_value", "%s and %s both set what the text must match; send only one of them.",
				given, name)
		case q.read:
			return wrong(name, "invalid_value", "max_tokens is 0, so there is no text that could match %s.", name)
		}
		given, q.settings.Grammar, q.grammar.at = name, text, at
	}
	return nil
}

// A form is a request's constraint on the generated text.
type form struct {
	at string           // the field that contains it
	g  *grammar.Grammar // keeps the compiled grammar alive for the request's runs, which look it up by its source
}

// compile waits for the client's turn and compiles a request's grammar.
func (s *Server) compile(ctx context.Context, who admission.Caller, q *request) error {
	if q.settings.Grammar == "" {
		return nil
	}
	g, err := s.Runs.Grammar(ctx, who, q.settings.Grammar)
	if r, ok := terms.AsRefusal(err); ok && r.Code == terms.CodeRange {
		return wrong(q.grammar.at, "invalid_value", "%s", r.Message)
	}
	q.grammar.g = g
	return err
}

// grammarIn reads the field with the given name. It returns the grammar in the format that the
// settings use, or "" if there is none, and the location of the grammar in the request.
func grammarIn(name string, f *terms.Fields) (text, at string, err error) {
	if name == "regex" {
		expression := f.Text(name)
		return grammar.Expression + expression, name, asError(f.Err())
	}
	raw := f.Rest()[name]
	delete(f.Rest(), name)
	if name == "json_schema" {
		return string(raw), name, nil
	}
	return responseFormat(raw)
}

// responseFormat reads the value of the field response_format.
func responseFormat(raw json.RawMessage) (schema, at string, err error) {
	at = "response_format"
	f, refused := terms.JSONFields(raw)
	if refused != nil {
		return "", at, wrong(at, "invalid_value", "response_format must be an object with a type.")
	}
	switch kind := f.Text("type"); kind {
	case "text":
		return "", at, restOf(at, f)
	case "json_schema":
	case "json_object":
		return `{"type":"object","additionalProperties":true}`, at, restOf(at, f)
	default:
		return "", at, wrong(at+".type", "invalid_value",
			"response_format.type is %s; it must be text, json_object or json_schema.", terms.Quoted(kind))
	}
	inner := f.Rest()["json_schema"]
	delete(f.Rest(), "json_schema")
	if err := restOf(at, f); err != nil {
		return "", at, err
	}
	at += ".json_schema"
	if f, refused = terms.JSONFields(inner); refused != nil {
		return "", at, wrong(at, "invalid_value", "%s must be an object with a name and a schema.", at)
	}
	for _, name := range []string{"name", "description"} {
		if f.Has(name) {
			f.Text(name) // ignored, because it is only a description
		}
	}
	if f.Has("strict") {
		f.Truth("strict") // ignored, because this server is always strict
	}
	if err := f.Err(); err != nil {
		return "", at, wrong(at+"."+err.Field, "invalid_value", "%s", err.Message)
	}
	schema = string(f.Rest()["schema"])
	delete(f.Rest(), "schema")
	if schema == "" {
		return "", at, wrong(at+".schema", "missing_required_parameter", "%s must have a schema.", at)
	}
	return schema, at + ".schema", restOf(at, f)
}

// restOf returns an error for the first unread field of an object, if there is one.
func restOf(at string, f *terms.Fields) error {
	if len(f.Rest()) == 0 {
		return nil
	}
	name := slices.Min(slices.Collect(maps.Keys(f.Rest())))
	return wrong(terms.Shortened(at+"."+name, 80), "unknown_parameter", "%s has no field %s.", at, terms.Quoted(name))
}
