// The program tokenizer reads a tokenizer.json, and texts from the standard input
// as a JSON array. It writes an array with an object for each: the text's token
// ids, and whether the vocabulary lacks a byte of it. real.mjs runs it.
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
	tok, err := tokenizer.Parse(data)
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
