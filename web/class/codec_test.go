package class

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/web/session"
)

// TestCommandEncodingRoundTrip: every command arrives as it was sent.
func TestCommandEncodingRoundTrip(t *testing.T) {
	t.Parallel()
	answer, on, order := 0.5, 0.25, sampling.Order("")
	for _, c := range []Command{
		AskNext{Choices: 5, For: time.Minute, Where: NextOpen},
		AskNumber{Prompt: "x", Answer: &answer, Within: 0.1},
		Assign{Tasks: []string{"a", "b"}, Names: true},
		Remove{Member: 3},
		Delete{},
		TakeOver{},
		Extend{By: time.Second},
		Drive{Do: session.Start{Prompt: "The cat"}},
		Drive{Do: session.Seek{Step: 2, Stage: 3}},
		Drive{Do: session.SetStops("a", "")},
		Drive{Do: session.WhatIf{U: &on}},
		Drive{Do: session.SetKnob("temperature", 0.7)},
		Drive{Do: session.Set{Order: &order}},
		Drive{Do: session.Play{}},
	} {
		text, err := json.Marshal(Sendable{c})
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		var got Sendable
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got.Command, c) {
			t.Errorf("%s decodes to %#v (%v), want %#v", text, got.Command, err, c)
		}
	}
	for _, bad := range []string{`{}`, `[]`, `{"Name":"drive class.Close"}`, `{"Name":"session.Play","Data":{}}`} {
		var got Sendable
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s decodes to %#v, want an error", bad, got.Command)
		}
	}
}

// TestEveryCommandIsEncodable: every command type can be sent between servers.
func TestEveryCommandIsEncodable(t *testing.T) {
	t.Parallel()
	method := regexp.MustCompile(`(?m)^func \((?:cmd )?(\w+)\) command\(`)
	found := 0
	for name, dir := range map[string]string{"class.": ".", "drive session.": "../session"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range method.FindAllSubmatch(text, -1) {
				found++
				c := name + string(m[1])
				if _, ok := codecs[c]; !ok && c != "class.Drive" {
					t.Errorf("%s cannot be sent to another server", c)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d commands were found", found)
	}
}
