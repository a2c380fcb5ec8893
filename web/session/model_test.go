package session_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing/fstest"
	"time"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/checkpoint"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/session"
)

// tinyContext is the context length of the tiny model. It is so small that a run can fill it.
const tinyContext = 24

// tiny is a real model with random weights. It has 2 layers of width 8. Its vocabulary is the
// bundled tokenizer's, reduced to the end-of-text token (id 0) and the 256 bytes (ids from 1).
var tiny = sync.OnceValues(func() (*infer.Model, error) {
	tokenizer, err := bytesOnly("../../infer/bundled/target/tokenizer.json")
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"model_type": "llama", "vocab_size": 257, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
		"num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": tinyContext, "eos_token_id": 0,
		"tie_word_embeddings": true,
	})
	if err != nil {
		return nil, err
	}
	c, err := checkpoint.Open(fstest.MapFS{
		"config.json": {Data: config}, "tokenizer.json": {Data: tokenizer}, "model.safetensors": {Data: tinyWeights()},
	}, "tiny")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return infer.Load(c)
})

func bytesOnly(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	model := file["model"].(map[string]any)
	vocab := model["vocab"].(map[string]any)
	for token, id := range vocab {
		if id.(float64) > 256 {
			delete(vocab, token)
		}
	}
	model["merges"] = []any{}
	return json.Marshal(file)
}

func tinyWeights() []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	header, data := map[string]any{}, new(bytes.Buffer)
	add := func(name string, shape ...int) {
		from, n := data.Len(), 1
		for _, d := range shape {
			n *= d
		}
		for range n {
			data.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(rng.NormFloat64()))))
		}
		header[name+".weight"] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{from, data.Len()}}
	}
	add("model.embed_tokens", 257, 8)
	add("model.norm", 8)
	for l := range 2 {
		at := fmt.Sprintf("model.layers.%d.", l)
		add(at+"input_layernorm", 8)
		add(at+"post_attention_layernorm", 8)
		add(at+"self_attn.q_proj", 8, 8)
		add(at+"self_attn.k_proj", 4, 8)
		add(at+"self_attn.v_proj", 4, 8)
		add(at+"self_attn.o_proj", 8, 8)
		add(at+"mlp.gate_proj", 12, 8)
		add(at+"mlp.up_proj", 12, 8)
		add(at+"mlp.down_proj", 8, 12)
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data.Bytes())
}

func tinyModel(tb tester) *infer.Model {
	tb.Helper()
	m, err := tiny()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// tester is the interface that tests and property checks have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// open returns a session of the tiny model, with pure sampling and a limit of 5 tokens, to
// which the given commands have been applied.
func open(tb tester, commands ...session.Command) *session.Session {
	tb.Helper()
	s := session.New(tinyModel(tb), session.DefaultLimits())
	apply(tb, s, session.SetPreset{Key: "pure"}, session.SetKnob("max_tokens", 5))
	apply(tb, s, commands...)
	return s
}

// apply applies commands that must be accepted.
func apply(tb tester, s *session.Session, commands ...session.Command) *session.State {
	tb.Helper()
	for _, c := range commands {
		st, err := s.Apply(context.Background(), c)
		if err != nil {
			tb.Fatalf("%T%+v: %v", c, c, err)
		}
		if st != s.State() {
			tb.Fatalf("%T returned a state that is not the session's", c)
		}
	}
	return s.State()
}

// wantRefused applies a command that must be refused and must change nothing.
func wantRefused(tb tester, s *session.Session, c session.Command) *terms.Refusal {
	tb.Helper()
	before := s.State()
	st, err := s.Apply(context.Background(), c)
	var e *terms.Refusal
	if !errors.As(err, &e) {
		tb.Fatalf("%T%+v: got %v, want a refusal", c, c, err)
	}
	if st != before || s.State() != before {
		tb.Errorf("%T%+v was refused and changed the state", c, c)
	}
	return e
}

func times(n int, c session.Command) []session.Command { return slices.Repeat([]session.Command{c}, n) }

func at(step int, stage infer.Kind) session.Cursor { return session.Cursor{Step: step, Stage: stage} }

func ptr[T any](v T) *T { return &v }

// copyOf returns a copy of a state that shares no mutable memory with it.
func copyOf(st *session.State) session.State {
	c := *st
	c.Steps = nil
	for _, step := range st.Steps {
		s := *step
		s.Input, s.Logits = slices.Clone(s.Input), slices.Clone(s.Logits)
		s.Held, s.Conditions = slices.Clone(s.Held), slices.Clone(s.Conditions)
		c.Steps = append(c.Steps, &s)
	}
	c.PromptTokens, c.Ghosts = slices.Clone(c.PromptTokens), slices.Clone(c.Ghosts)
	c.Settings.Stop.Strings = slices.Clone(c.Settings.Stop.Strings)
	c.Branches = slices.Clone(c.Branches)
	for i := range c.Branches {
		c.Branches[i].Chosen = slices.Clone(c.Branches[i].Chosen)
	}
	if st.Dist != nil {
		d := *st.Dist
		d.Order, d.P, d.Cum = slices.Clone(d.Order), slices.Clone(d.P), slices.Clone(d.Cum)
		c.Dist = &d
	}
	return c
}

// content returns a copy of a state without the values that differ each time a run is repeated: the
// version and the measured times.
func content(st *session.State) session.State {
	c := copyOf(st)
	c.Version = 0
	for _, step := range c.Steps {
		step.Took = [infer.KindCache + 1]time.Duration{}
	}
	return c
}
