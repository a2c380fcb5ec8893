package api

import (
	"fmt"
	"strings"
)

// A snippet is a program that sends the page's request.
type snippet struct {
	Name string
	Code string
}

// snippets returns programs that send the page's request, in four languages. They contain a
// placeholder for a key if one is required.
func (s *Server) snippets(v view, a ask) []snippet {
	key := "not-needed"
	if v.Key {
		key = "YOUR-KEY" + codeMark + v.Code
	}
	return []snippet{
		{"curl", s.curl(v, a, key)},
		{"Python", s.python(v, a, key)},
		{"JavaScript", s.javaScript(v, a, key)},
		{"Go", s.golang(v, a, key)},
	}
}

func (s *Server) curl(v view, a ask, key string) string {
	auth := ""
	if v.Key {
		auth = fmt.Sprintf("  -H 'Authorization: Bearer %s' \\\n", key)
	}
	return fmt.Sprintf("curl %s/completions \\\n%s  -H 'Content-Type: application/json' \\\n  -d '%s'",
		v.Base, auth, strings.ReplaceAll(s.body(a), "'", `'\''`))
}

// lines formats the fields for a language that writes each field as a name, a separator (between)
// and a value.
func (s *Server) lines(a ask, between string) string {
	text := fmt.Sprintf("    model%s%s,\n", between, quoted(s.Model.Name()))
	for _, f := range a.fields() {
		text += fmt.Sprintf("    %s%s%s,\n", f.Name, between, f.Value)
	}
	return text
}

func (s *Server) python(v view, a ask, key string) string {
	return fmt.Sprintf("from openai import OpenAI\n\nclient = OpenAI(base_url=%q, api_key=%q)\n\n"+
		"answer = client.completions.create(\n%s    stream=True,\n)\nfor part in answer:\n"+
		"    print(part.choices[0].text, end=\"\", flush=True)", v.Base, key, s.lines(a, "="))
}

func (s *Server) javaScript(v view, a ask, key string) string {
	return fmt.Sprintf("import OpenAI from 'openai';\n\n"+
		"const client = new OpenAI({ baseURL: '%s', apiKey: '%s' });\n\n"+
		"const answer = await client.completions.create({\n%s    stream: true,\n});\n"+
		"for await (const part of answer) process.stdout.write(part.choices[0].text);", v.Base, key, s.lines(a, ": "))
}

func (s *Server) golang(v view, a ask, key string) string {
	value := map[string]string{}
	for _, f := range a.fields() {
		value[f.Name] = f.Value
	}
	return fmt.Sprintf(`package main

import (
	"context"
	"fmt"
	"log"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(
		option.WithBaseURL(%q), option.WithAPIKey(%q),
	)
	stream := client.Completions.NewStreaming(context.Background(), openai.CompletionNewParams{
		Model:       %s,
		Prompt:      openai.CompletionNewParamsPromptUnion{OfString: openai.String(%s)},
		Temperature: openai.Float(%s),
		TopP:        openai.Float(%s),
		Seed:        openai.Int(%s),
		MaxTokens:   openai.Int(%s),
		Logprobs:    openai.Int(%s),
	})
	for stream.Next() {
		fmt.Print(stream.Current().Choices[0].Text)
	}
	if err := stream.Err(); err != nil {
		log.Fatal(err)
	}
}`,
		v.Base, key, quoted(s.Model.Name()), value["prompt"], value["temperature"], value["top_p"], value["seed"],
		value["max_tokens"], value["logprobs"])
}
