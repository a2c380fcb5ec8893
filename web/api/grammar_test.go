package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tokenbytoken/viz/web/admission"
	"github.com/tokenbytoken/viz/web/api"
	"github.com/tokenbytoken/viz/web/webtest"
)

// aCat is a schema, in the form that the published client sends.
var aCat = map[string]any{
	"type": "object",
	"properties": map[string]any{
		"name": map[string]any{"type": "string"},
		"kind": map[string]any{"enum": []string{"house", "wild"}},
		"tame": map[string]any{"type": "boolean"},
	},
	"required": []string{"name", "kind", "tame"}, "additionalProperties": false,
}

// TestAnswersKeepToASchema: with the published client's response_format, an answer is JSON that
// matches the schema, streamed or not, in chats and in completions. If an answer was cut off at its
// limit, its finish_reason is "length".
// Promise: With `response_format`, a complete answer is JSON of your schema, streamed or not.
func TestAnswersKeepToASchema(t *testing.T) {
	t.Parallel()
	client := clientOf(webtest.Serve(t, webtest.Options{}))
	check := func(text, finish string) {
		t.Helper()
		var cat struct {
			Name, Kind *string
			Tame       *bool
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&cat); err != nil || cat.Name == nil || cat.Tame == nil || cat.Kind == nil ||
			!slices.Contains([]string{"house", "wild"}, *cat.Kind) || finish != "stop" {
			t.Errorf(
				"got %q (finish_reason %s, decoded with %v); want a cat with all fields, kind house or wild, and stop",
				text, finish, err,
			)
		}
	}
	params := openai.ChatCompletionNewParams{
		Model:     model,
		Messages:  []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Tell me of a cat.")},
		MaxTokens: openai.Int(60), Temperature: openai.Float(0.9),
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &openai.ResponseFormatJSONSchemaParam{
				JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{
					Name: "cat", Strict: openai.Bool(true), Schema: aCat,
				},
			},
		},
	}
	for seed := range int64(4) {
		params.Seed = openai.Int(seed)
		whole, err := client.Chat.Completions.New(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		check(whole.Choices[0].Message.Content, whole.Choices[0].FinishReason)
		var text, finish string
		stream := client.Chat.Completions.NewStreaming(t.Context(), params)
		for stream.Next() {
			for _, c := range stream.Current().Choices {
				text, finish = text+c.Delta.Content, finish+c.FinishReason
			}
		}
		if stream.Err() != nil || text != whole.Choices[0].Message.Content || finish != "stop" {
			t.Errorf("streamed %q (%s), %v; want %q", text, finish, stream.Err(), whole.Choices[0].Message.Content)
		}
	}
	params.MaxTokens = openai.Int(6)
	short, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil || short.Choices[0].FinishReason != "length" {
		t.Errorf("6 tokens: got %+v, %v; want no error, Choices[0].FinishReason = %q", short, err, "length")
	}

	text := openai.CompletionNewParams{
		Model: model, Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("A cat:")},
		MaxTokens: openai.Int(60), Temperature: openai.Float(2), Seed: openai.Int(5),
	}
	got, err := client.Completions.New(t.Context(), text, option.WithJSONSet("json_schema", aCat))
	if err != nil {
		t.Fatal(err)
	}
	check(got.Choices[0].Text, string(got.Choices[0].FinishReason))
	got, err = client.Completions.New(t.Context(), text, option.WithJSONSet("regex", " (Tom|Kitty)!"))
	if err != nil || !slices.Contains([]string{" Tom!", " Kitty!"}, got.Choices[0].Text) ||
		got.Choices[0].FinishReason != "stop" {
		t.Errorf(`got %+v, %v; want " Tom!" or " Kitty!", ended by stop, <nil>`, got, err)
	}
}

// TestUnusableGrammarsAreRefused: an unusable schema or expression is refused before any token is
// generated, and the error gives the location of the problem.
func TestUnusableGrammarsAreRefused(t *testing.T) {
	t.Parallel()
	server := webtest.Serve(t, webtest.Options{}) + "/v1/"
	const text, talk = "completions", "chat/completions"
	format := func(schema string) string {
		return said(`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":` + schema + `}}`)
	}
	deep := strings.Repeat(`{"type":"array","items":`, 99) + `{}` + strings.Repeat(`}`, 99)
	const place = "response_format.json_schema.schema"
	for _, row := range []struct{ to, body, param, says string }{
		{talk, format(`{"$ref":"#"}`), place, "$ref"},
		{talk, format(`{"type":"array","items":{"$ref":"#/x"}}`), place, "$ref"},
		{talk, format(`{"type":"string","enum":[1]}`), place, "contradicts itself"},
		{talk, format(`{"required":["b"],"additionalProperties":false}`), place, "contradicts itself"},
		{talk, format(`{"oneOf":[{"type":"integer"},{"type":"number"}]}`), place, "oneOf"},
		{talk, format(`{"type":"string","pattern":"^(([a-z]|é)(x|yy)?.{1,40}){1,24}$"}`), place, "more than 20000"},
		{talk, format(`{"type":"string","minLength":1e9}`), place, "more than 20000"},
		{talk, format(`{"title":"` + strings.Repeat("x", 70<<10) + `"}`), place, "the limit is 65536"},
		{talk, format(deep), place, "more than 32 levels deep"},
		{talk, format(`[]`), place, "must be an object"},
		{talk, said(`"response_format":{"type":"json_schema"}`), "response_format.json_schema", "a name and a schema"},
		{talk, said(`"response_format":{"type":"json_schema","json_schema":{"name":"x"}}`), place, "have a schema"},
		{
			talk, said(`"response_format":{"type":"json_schema","json_schema":{"name":7,"schema":{}}}`),
			"response_format.json_schema.name", "text",
		},
		{talk, said(`"response_format":{"type":"json_object","x":1}`), "response_format.x", "no field"},
		{talk, said(`"response_format":{"type":"xml"}`), "response_format.type", "xml"},
		{talk, said(`"response_format":"json"`), "response_format", "an object"},
		{talk, said(`"response_format":{"type":"text","x":1}`), "response_format.x", "no field"},
		{text, with(`"json_schema":{"type":"thing"}`), "json_schema", "thing"},
		{text, with(`"regex":"("`), "regex", "cannot parse the expression"},
		{text, with(`"regex":7`), "regex", "text"},
		{text, with(`"regex":"a","json_schema":{"type":"null"}`), "regex", "both"},
		{text, with(`"regex":"a","max_tokens":0,"echo":true`), "regex", "no text"},
		{text, with(`"grammar":"root ::= x"`), "grammar", "json_schema"},
	} {
		answer := send(t, server+row.to, row.body)
		says, param := refusal(t, answer)
		if answer.StatusCode != 400 || param != row.param || !strings.Contains(says, row.says) {
			t.Errorf("%.120s: %d, %q: %s; want %q: %s", row.body, answer.StatusCode, param, says, row.param, row.says)
		}
	}
}

// TestAnyObject: with json_object, the answer is an object with any names and values.
func TestAnyObject(t *testing.T) {
	t.Parallel()
	client := clientOf(webtest.Serve(t, webtest.Options{}))
	for seed := range int64(3) {
		got, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
			Model:     model,
			Messages:  []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Tell me of a cat.")},
			MaxTokens: openai.Int(40), Temperature: openai.Float(1.5), Seed: openai.Int(seed),
			ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{
				OfJSONObject: &openai.ResponseFormatJSONObjectParam{},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		choice := got.Choices[0]
		if err := json.Unmarshal([]byte(choice.Message.Content), &object); err != nil || choice.FinishReason != "stop" {
			t.Errorf(
				"got %q (finish_reason %s), %v; want an object and stop", choice.Message.Content,
				choice.FinishReason, err,
			)
		}
	}
}

// TestBadGrammarsCountAgainstTheClient: a client that has sent too many unusable grammars gets 429
// for further ones, while another client is still served.
func TestBadGrammarsCountAgainstTheClient(t *testing.T) {
	t.Parallel()
	limits := admission.DefaultLimits()
	limits.BadGrammars = admission.Pace{PerLearner: admission.Rate{PerSecond: 1e-6, Burst: 2}}
	server := webtest.Serve(t, webtest.Options{
		API: &api.Access{Keys: []string{"hers", "his"}}, Admission: &limits,
	})
	const bad, good = `{"type":"string","maxLength":20000}`, `{"enum":["yes"]}`
	for i, row := range []struct {
		key, schema string
		want        int
	}{
		{"hers", bad, 400},
		{"hers", good, 200},
		{"hers", bad, 400},
		{"hers", bad, 429},
		{"hers", good, 429},
		{"his", bad, 400},
		{"his", good, 200},
	} {
		r, err := http.NewRequest(http.MethodPost, server+"/v1/completions", strings.NewReader(
			with(`"max_tokens":20,"json_schema":`+row.schema),
		))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+row.key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		wait := answer.Header.Get("Retry-After")
		if answer.StatusCode != row.want || (wait != "") != (row.want == http.StatusTooManyRequests) {
			t.Errorf(
				"request %d: got %d, Retry-After %q; want %d, and Retry-After only with 429", i+1, answer.StatusCode,
				wait, row.want,
			)
		}
	}
}

// TestStopStringCutsValue: a stop string ends an answer even inside a value that the schema
// requires, as the API's page states. Here the stop string is "us", so only the part of "house"
// before it is left.
func TestStopStringCutsValue(t *testing.T) {
	t.Parallel()
	client := clientOf(webtest.Serve(t, webtest.Options{}))
	params := openai.CompletionNewParams{
		Model: model, Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("It is a")},
		MaxTokens: openai.Int(20),
	}
	whole, err := client.Completions.New(t.Context(), params, option.WithJSONSet("json_schema.enum", []string{"house"}))
	if err != nil || whole.Choices[0].Text != `"house"` {
		t.Fatalf("got %v, %v; want no error, Choices[0].Text = %q", whole, err, `"house"`)
	}
	params.Stop.OfString = openai.String("us")
	cut, err := client.Completions.New(t.Context(), params, option.WithJSONSet("json_schema.enum", []string{"house"}))
	if err != nil || cut.Choices[0].Text != `"ho` || cut.Choices[0].FinishReason != "stop" {
		t.Errorf(
			"got %v, %v; want no error, Choices[0].Text = %q, Choices[0].FinishReason = %q", cut, err, `"ho`, "stop",
		)
	}
}
