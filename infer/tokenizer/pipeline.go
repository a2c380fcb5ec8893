package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A step is a normalizer, pre-tokenizer, post-processor or decoder. These are
// the members, over all types, that matter here.
type step struct {
	Type           string            `json:"type"`
	AddPrefixSpace bool              `json:"add_prefix_space"`
	UseRegex       *bool             `json:"use_regex"` // absent means true
	Normalizers    []json.RawMessage `json:"normalizers"`
	Pretokenizers  []json.RawMessage `json:"pretokenizers"`
	Processors     []json.RawMessage `json:"processors"`
	Decoders       []json.RawMessage `json:"decoders"`
}

// readPipeline checks the four parts of the file around the model. Only one
// pipeline is supported: no normalizer, the ByteLevel pre-tokenizer with its
// pattern, no post-processing of ids, the ByteLevel decoder.
func (t *Tokenizer) readPipeline(f *file) error {
	if _, err := unwrap("normalizer", f.Normalizer, false); err != nil {
		return err
	}
	pre, err := unwrap("pre_tokenizer", f.PreTokenizer, true)
	if err != nil {
		return err
	}
	if pre.UseRegex != nil && !*pre.UseRegex {
		return errors.New("pre_tokenizer: use_regex false is not supported: it leaves the text in one piece; want true")
	}
	t.addPrefixSpace = pre.AddPrefixSpace
	// As a post-processor ByteLevel only trims offsets, which Encode does not
	// return; all other types add tokens.
	if !isNull(f.PostProcessor) {
		if _, err := unwrap("post_processor", f.PostProcessor, true); err != nil {
			return err
		}
	}
	_, err = unwrap("decoder", f.Decoder, true)
	return err
}

// unwrap reads one part of the pipeline and takes it out of a Sequence of one.
// What is left has to be of type ByteLevel if byteLevel is set, nothing
// otherwise.
func unwrap(place string, raw json.RawMessage, byteLevel bool) (step, error) {
	want := "none"
	if byteLevel {
		want = "ByteLevel"
	}
	if isNull(raw) {
		if byteLevel {
			return step{}, fmt.Errorf("%s is missing; want %s", place, want)
		}
		return step{}, nil
	}
	if len(raw) > maxStepBytes {
		return step{}, fmt.Errorf("%s has %d bytes, more than the limit of %d", place, len(raw), maxStepBytes)
	}
	s, err := readStep(place, raw)
	if err != nil {
		return step{}, err
	}
	if s.Type == "Sequence" {
		// Each part of the file has its own name for the list; one part has one.
		members := s.Normalizers
		for _, list := range [][]json.RawMessage{s.Pretokenizers, s.Processors, s.Decoders} {
			members = append(members, list...)
		}
		if len(members) == 0 && !byteLevel {
			return step{}, nil
		}
		if len(members) != 1 {
			return step{}, fmt.Errorf("%s: a Sequence of %d is not supported; want %s", place, len(members), want)
		}
		place += ": Sequence[0]"
		if s, err = readStep(place, members[0]); err != nil {
			return step{}, err
		}
	}
	if !byteLevel || s.Type != "ByteLevel" {
		return step{}, fmt.Errorf("%s: type %s is not supported; want %s", place, quote(s.Type), want)
	}
	return s, nil
}

// readStep decodes one step, which has to be an object.
func readStep(place string, raw json.RawMessage) (step, error) {
	var s step
	if isNull(raw) {
		return s, fmt.Errorf("%s is null", place)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, explainType(place, place+".", err)
	}
	return s, nil
}
