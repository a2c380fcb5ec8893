package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tokenbytoken/viz/infer/chat"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/admission"
)

// The handlers in this file convert texts to tokens and back, as vLLM and llama.cpp do. Clients of
// vLLM send the field prompt or messages, and clients of llama.cpp send content. Each kind of
// client receives the response format that it expects.

// tokenized is the response to vLLM's clients.
type tokenized struct {
	Count   int      `json:"count"`
	Context int      `json:"max_model_len"`
	Tokens  []int    `json:"tokens"`
	Texts   []string `json:"token_strs"` // null unless requested
}

// A pieceView is a token in llama.cpp's format for with_pieces. Piece is a string or, for a part
// of a character, a list of bytes.
type pieceView struct {
	ID    int `json:"id"`
	Piece any `json:"piece"`
}

// encodeTime is an estimate of the time needed to tokenize the longest text that is accepted.
const encodeTime = 100 * time.Millisecond

// asking reads the fields of a tokenize or detokenize request, calls answer and sends its result.
// Like any other request, the request counts toward the limit on concurrent requests. Tokenizing
// does not run in a pool, so these requests are handled one at a time, and clients take turns.
func (s *Server) asking(
	w http.ResponseWriter, r *http.Request, who admission.Caller, answer func(*terms.Fields) (any, error),
) error {
	place, refused := s.hold(who)
	if refused != nil {
		return refused
	}
	defer place.Release()
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	_, leave, err := s.turns.EnterRequest(r.Context(), who, encodeTime)
	if err != nil {
		return full("Too many texts are waiting to be tokenized. Try again in a moment.")
	}
	defer leave()
	setAside("", f.Rest())
	if f.Has("model") { // optional here
		if err := s.named(f.Text("model")); err != nil {
			return err
		}
	}
	v, err := answer(f)
	if err == nil {
		err = asError(f.Err())
	}
	if err == nil {
		err = rest(f)
	}
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, v)
	return nil
}

// tokenize handles POST /tokenize.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request, who admission.Caller) error {
	return s.asking(w, r, who, func(f *terms.Fields) (any, error) {
		if f.Has("content") {
			return s.tokensOfContent(f)
		}
		q := &request{chat: f.Has("messages")}
		start := !q.chat // a chat template contains its own special tokens
		if f.Has("add_special_tokens") {
			start = f.Truth("add_special_tokens")
		}
		strs := f.Has("return_token_strs") && f.Truth("return_token_strs")
		switch {
		case q.chat && start:
			return nil, unsupported("add_special_tokens", "a chat always has the special tokens of its template")
		case q.chat:
			if err := s.readMessages(r.Context(), q, f); err != nil {
				return nil, err
			}
		case !f.Has("prompt"):
			return nil, wrong(
				"prompt", "missing_required_parameter", "Send the text as prompt, content or messages.",
			)
		default:
			q.prompts = []prompt{{Text: chat.Text{Text: f.Text("prompt")}}}
		}
		ids, err := s.tokens("prompt", q.prompts[0].Text, start || q.chat, f)
		if err != nil {
			return nil, err
		}
		v := tokenized{Count: len(ids), Context: s.Model.Config().Context, Tokens: ids}
		if strs {
			v.Texts = []string{}
			for _, id := range ids {
				v.Texts = append(v.Texts, s.Model.Token(id).Text)
			}
		}
		return v, nil
	})
}

// tokensOfContent returns the response for clients of llama.cpp.
func (s *Server) tokensOfContent(f *terms.Fields) (any, error) {
	text := f.Text("content")
	start := f.Has("add_special") && f.Truth("add_special")
	with := f.Has("with_pieces") && f.Truth("with_pieces")
	if f.Has("parse_special") && f.Truth("parse_special") {
		return nil, unsupported("parse_special", "the names of special tokens are always read as plain text")
	}
	ids, err := s.tokens("content", chat.Text{Text: text}, start, f)
	if err != nil || !with {
		return struct {
			Tokens []int `json:"tokens"`
		}{ids}, err
	}
	list := []pieceView{}
	for _, id := range ids {
		t := s.Model.Token(id)
		p := pieceView{ID: id, Piece: t.Text}
		if t.Bytes != nil {
			p.Piece = numbers(t.Bytes)
		}
		list = append(list, p)
	}
	return struct {
		Tokens []pieceView `json:"tokens"`
	}{list}, nil
}

// tokens returns the tokens of the text in a field. They begin with the model's start token if
// start is set and the model has one.
func (s *Server) tokens(field string, text chat.Text, start bool, f *terms.Fields) ([]int, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	ids, err := s.Model.EncodeChat(text)
	if err != nil {
		return nil, wrong(field, "invalid_value", "%s", terms.RefusalOf(err).Message)
	}
	if !start && len(ids) > 0 && ids[0] == s.Model.Config().BOS {
		ids = ids[1:]
	}
	return append([]int{}, ids...), nil
}

// detokenize handles POST /detokenize. The response contains the text twice, under the field names
// that the two programs use.
func (s *Server) detokenize(w http.ResponseWriter, r *http.Request, who admission.Caller) error {
	return s.asking(w, r, who, func(f *terms.Fields) (any, error) {
		raw := f.Rest()["tokens"]
		delete(f.Rest(), "tokens")
		var ids []int
		if json.Unmarshal(raw, &ids) != nil || ids == nil {
			return nil, wrong("tokens", "invalid_value", "tokens must be a list of token ids, not %s.",
				terms.Quoted(string(raw)))
		}
		if err := s.Model.CheckIDs(ids); err != nil {
			return nil, wrong("tokens", "invalid_value", "%s", terms.RefusalOf(err).Message)
		}
		text := s.Model.DecodeNamed(ids)
		return struct {
			Prompt  string `json:"prompt"`
			Content string `json:"content"`
		}{text, text}, nil
	})
}
