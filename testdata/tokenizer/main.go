// The program tokenizer reads a tokenizer.json or the lists of a GGUF file, and
// texts from standard input as a JSON array. It writes an array with an object for
// each text: its token ids, and whether the vocabulary lacks one of its bytes.
// real.mjs and vectors.mjs run it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/tokenbytoken/viz/infer/tokenizer"
)

type answer struct {
	IDs     []int `json:"ids"`
	Refused bool  `json:"refused"`
}

// lists holds a vocabulary as vectors.mjs writes it.
type lists struct {
	Pre      string    `json:"pre"`
	AddSpace bool      `json:"addSpace"`
	Tokens   []string  `json:"tokens"`
	Types    []int     `json:"types"` // GGUF's: 3 control, 4 defined by the user
	Scores   []float32 `json:"scores"`
	Merges   []string  `json:"merges"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: go run ./testdata/tokenizer TOKENIZER.JSON < TEXTS.JSON")
	}
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	tok, err := read(data)
	if err != nil {
		return err
	}
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		return err
	}
	answers := make([]answer, len(texts))
	for i, text := range texts {
		answers[i] = answer{append([]int{}, tok.Encode(text)...), tok.Check(text) != nil}
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func read(data []byte) (*tokenizer.Tokenizer, error) {
	var l lists
	if err := json.Unmarshal(data, &l); err != nil || l.Tokens == nil {
		return tokenizer.Parse(data)
	}
	list := tokenizer.List{Tokens: l.Tokens, Marks: make([]tokenizer.Mark, len(l.Tokens))}
	for i, kind := range l.Types {
		list.Marks[i] = map[int]tokenizer.Mark{
			2: tokenizer.Special, 3: tokenizer.Special, 4: tokenizer.Added, 5: tokenizer.Special,
		}[kind]
	}
	if l.Scores != nil {
		return tokenizer.NewSentencePiece(list, l.Scores, l.AddSpace)
	}
	return tokenizer.NewByteLevel(list, l.Merges, l.Pre)
}
