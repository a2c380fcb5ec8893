package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A step is a normalizer, pre-tokenizer, post-processor or decoder. It has fields for the relevant
// members of all types of steps.
type step struct {
	at string // its position: "pre_tokenizer: Sequence[0]"

	Type           string            `json:"type"`
	AddPrefixSpace bool              `json:"add_prefix_space"`
	UseRegex       *bool             `json:"use_regex"` // absent means true
	Normalizers    []json.RawMessage `json:"normalizers"`
	Pretokenizers  []json.RawMessage `json:"pretokenizers"`
	Processors     []json.RawMessage `json:"processors"`
	Decoders       []json.RawMessage `json:"decoders"`

	Pattern          pattern `json:"pattern"`           // of Split and Replace
	Behavior         string  `json:"behavior"`          // of Split
	Invert           bool    `json:"invert"`            // of Split
	IndividualDigits bool    `json:"individual_digits"` // of Digits
	Prepend          string  `json:"prepend"`           // of Prepend
	Content          string  `json:"content"`           // of Replace and Strip
	Start            int     `json:"start"`             // of Strip
	Stop             int     `json:"stop"`              // of Strip
	Replacement      string  `json:"replacement"`       // of Metaspace
	PrependScheme    string  `json:"prepend_scheme"`    // of Metaspace; older files have add_prefix_space instead
	Split            *bool   `json:"split"`             // of Metaspace; absent means true

	Single        []templatePart          `json:"single"`         // of TemplateProcessing
	SpecialTokens map[string]templateMark `json:"special_tokens"` // of TemplateProcessing
}

// pattern is the pattern that a Split or a Replace searches for. Only one of the two fields is set.
type pattern struct {
	Regex  string `json:"Regex"`
	String string `json:"String"`
}

// templatePart is one part of a template: a special token or the text itself.
type templatePart struct {
	SpecialToken *struct {
		ID string `json:"id"`
	} `json:"SpecialToken"`
	Sequence *struct {
		ID string `json:"id"`
	} `json:"Sequence"`
}

// templateMark is a special token that a template can add.
type templateMark struct {
	IDs []int64 `json:"ids"`
}

// A pipeline holds the four parts of the file other than the model, each as a list of steps.
type pipeline struct{ normalizer, preTokenizer, postProcessor, decoder []step }

// readPipeline reads the four parts and configures the tokenizer. It supports two families of
// pipelines: byte-level and SentencePiece.
func (t *Tokenizer) readPipeline(f *file) (err error) {
	var p pipeline
	for _, part := range []struct {
		at    string
		raw   json.RawMessage
		steps *[]step
	}{
		{"normalizer", f.Normalizer, &p.normalizer},
		{"pre_tokenizer", f.PreTokenizer, &p.preTokenizer},
		{"post_processor", f.PostProcessor, &p.postProcessor},
		{"decoder", f.Decoder, &p.decoder},
	} {
		if *part.steps, err = steps(part.at, part.raw); err != nil {
			return err
		}
	}
	if f.Model != nil && f.Model.ByteFallback && !p.byteLevel() {
		err = t.readSentencePiece(p)
	} else {
		err = t.readByteLevel(p)
	}
	if err != nil {
		return err
	}
	return t.readPostProcessor(p.postProcessor)
}

// byteLevel reports whether the pre-tokenizer spells bytes in GPT-2's alphabet.
func (p pipeline) byteLevel() bool {
	for _, s := range p.preTokenizer {
		if s.Type == "ByteLevel" {
			return true
		}
	}
	return false
}

// readByteLevel reads pipelines like GPT-2's, which cut text by a pattern and spell bytes in the
// alphabet.
func (t *Tokenizer) readByteLevel(p pipeline) error {
	for _, s := range p.normalizer {
		if s.Type != "NFC" {
			return s.refuse("none or NFC")
		}
		t.nfc = true
	}
	if len(p.preTokenizer) == 0 {
		return errors.New("pre_tokenizer is missing; want ByteLevel")
	}
	last := p.preTokenizer[len(p.preTokenizer)-1]
	if last.Type != "ByteLevel" {
		return last.refuse("ByteLevel")
	}
	t.addPrefixSpace = last.AddPrefixSpace
	usesRegex := last.UseRegex == nil || *last.UseRegex
	switch before := p.preTokenizer[:len(p.preTokenizer)-1]; {
	case len(before) == 0 && usesRegex:
		t.split = splitGPT2
	case len(before) == 0:
		return errors.New("pre_tokenizer: use_regex false is not supported without a Split step; want true")
	case len(before) > 1:
		return fmt.Errorf(
			"pre_tokenizer: a Sequence of %d steps is not supported; want ByteLevel, alone or after Split or Digits",
			len(p.preTokenizer),
		)
	case before[0].Type == "Digits" && before[0].IndividualDigits && usesRegex && !last.AddPrefixSpace:
		t.split = splitGPT2Digits
	case before[0].Type == "Split" && !usesRegex && !last.AddPrefixSpace:
		var err error
		if t.split, err = readSplit(before[0]); err != nil {
			return err
		}
	case before[0].Type == "Digits" || before[0].Type == "Split":
		return fmt.Errorf(
			"%s: the options of %s and of the ByteLevel after it are not supported together", before[0].at,
			before[0].Type,
		)
	default:
		return before[0].refuse("ByteLevel, alone or after Split or Digits")
	}
	if len(p.decoder) == 0 {
		return errors.New("decoder is missing; want ByteLevel")
	}
	for _, s := range p.decoder {
		if s.Type != "ByteLevel" {
			return s.refuse("ByteLevel")
		}
	}
	return nil
}

// readSplit recognizes a pattern by its exact text, because an almost correct pattern would produce
// almost correct input for the model, which would go unnoticed. The matches of every pattern cover
// the whole text, so keeping only the matches (Removed, inverted) is equivalent to cutting at them
// (Isolated).
func readSplit(s step) (*splitter, error) {
	if !(s.Behavior == "Isolated" && !s.Invert || s.Behavior == "Removed" && s.Invert) {
		return nil, fmt.Errorf(
			"%s: behavior %s with invert %v is not supported; want Isolated with invert false",
			s.at, quote(s.Behavior), s.Invert,
		)
	}
	for _, known := range splits {
		if s.Pattern.Regex != "" && s.Pattern.Regex == known.regex {
			return known, nil
		}
	}
	return nil, fmt.Errorf(
		"%s: unknown pattern %s; want the GPT-2, Llama-3 or Qwen2 pattern", s.at,
		quote(s.Pattern.Regex+s.Pattern.String),
	)
}

// readPostProcessor determines the token in front of a text. It ignores ByteLevel, which only trims
// offsets, since Encode does not return offsets.
func (t *Tokenizer) readPostProcessor(list []step) error {
	for _, s := range list {
		switch s.Type {
		case "ByteLevel":
		case "TemplateProcessing":
			if err := t.readTemplate(s); err != nil {
				return fmt.Errorf("%s: %w", s.at, err)
			}
		default:
			return s.refuse("ByteLevel or TemplateProcessing")
		}
	}
	return nil
}

// readTemplate supports templates that leave a text unchanged or put one token in front of it.
func (t *Tokenizer) readTemplate(s step) error {
	parts := s.Single
	if len(parts) == 0 || parts[len(parts)-1].Sequence == nil || parts[len(parts)-1].Sequence.ID != "A" {
		return errors.New("the template must end with the input text (A); at most one token may precede it")
	}
	parts = parts[:len(parts)-1]
	if len(parts) == 0 {
		return nil
	}
	if len(parts) > 1 || parts[0].SpecialToken == nil {
		return errors.New("the template has an unsupported prefix; at most one token may precede the input text (A)")
	}
	name := parts[0].SpecialToken.ID
	mark, ok := s.SpecialTokens[name]
	if !ok || len(mark.IDs) != 1 {
		return fmt.Errorf("special_tokens has %d ids for %s; want 1", len(mark.IDs), quote(name))
	}
	if err := checkID(mark.IDs[0]); err != nil {
		return err
	}
	t.start = int32(mark.IDs[0])
	return nil
}

// steps reads one part of the pipeline as a list: empty, one step, or the members of a
// Sequence.
func steps(at string, raw json.RawMessage) ([]step, error) {
	if isNull(raw) {
		return nil, nil
	}
	if len(raw) > maxStepBytes {
		return nil, fmt.Errorf("%s has %d bytes, more than the limit of %d", at, len(raw), maxStepBytes)
	}
	s, err := readStep(at, raw)
	if err != nil || s.Type != "Sequence" {
		return []step{s}, err
	}
	// Each part of the file has its own key for the list of members, so a step has only one of
	// these lists.
	members := s.Normalizers
	for _, more := range [][]json.RawMessage{s.Pretokenizers, s.Processors, s.Decoders} {
		members = append(members, more...)
	}
	var list []step
	for i, m := range members {
		s, err := readStep(fmt.Sprintf("%s: Sequence[%d]", at, i), m)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// readStep decodes one step, which must be an object.
func readStep(at string, raw json.RawMessage) (step, error) {
	s := step{at: at}
	if isNull(raw) {
		return s, fmt.Errorf("%s is null", at)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, explainType(at, at+".", err)
	}
	return s, nil
}

func (s step) refuse(want string) error {
	return fmt.Errorf("%s: type %s is not supported; want %s", s.at, quote(s.Type), want)
}
