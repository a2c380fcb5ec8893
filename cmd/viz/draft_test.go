package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer"
)

// TestDraftBelongsToItsModel: the embedded draft model is used only with the embedded model.
// Another model has no draft unless one is given, and an unsuitable draft is rejected before the
// server starts.
func TestDraftBelongsToItsModel(t *testing.T) {
	bundledAt := func(name string) string { return filepath.Join("..", "..", "infer", "bundled", name) }
	target, err := openModel(t.Context(), modelPath{}, "-model", infer.QuantNone, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	own, err := openDraft(ctx, target, "", "-draft", true, infer.QuantNone, io.Discard)
	if err != nil || own == nil || infer.CheckPair(target, own) != nil {
		t.Errorf("the binary's own draft: got %v, %v; want no error, own not nil", own, err)
	}
	none, err := openDraft(ctx, target, "", "-draft", false, infer.QuantNone, io.Discard)
	if none != nil || err != nil {
		t.Errorf("for another model: got %v, %v; want nil, <nil>", none, err)
	}
	given, err := openDraft(ctx, target, bundledAt("draft"), "-draft", false, infer.QuantNone, io.Discard)
	if err != nil || given.Hash() != own.Hash() {
		t.Errorf("the same draft by its path: got %v, want no error, given.Hash() = %q", err, own.Hash())
	}
	for path, why := range map[string]string{
		filepath.Join("..", "..", "testdata"):                            "config.json",
		filepath.Join("..", "..", "testdata", "models", "gpt2-f32.gguf"): "cannot draft for",
	} {
		f := try(t, nil, "", "serve", "-no-open", "-addr", "127.0.0.1:0", "-draft", path)
		if f.code != exitUsage || !strings.Contains(f.errors, "-draft "+path) || !strings.Contains(f.errors, why) {
			t.Errorf(
				"%s: code %d, %s; want %d with %q and %q", path, f.code, f.errors, exitUsage, "-draft "+path,
				why,
			)
		}
	}
}
