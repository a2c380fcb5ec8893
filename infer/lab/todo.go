package lab

import (
	"context"
	"encoding/json"
	"errors"
)

var errTodo = errors.New("being built")

// Request is the body of a request.
type Request struct {
	Prompt string `json:"prompt"`
}

func ParseRequest(data []byte) (Request, error) { var r Request; return r, json.Unmarshal(data, &r) }

func (billLab) Estimate(Env, Values) (Estimate, error)        { return Estimate{}, nil }
func (speculationLab) Estimate(Env, Values) (Estimate, error) { return Estimate{}, nil }
func (stopsLab) Estimate(Env, Values) (Estimate, error)       { return Estimate{}, nil }

func (billLab) Run(context.Context, Env, Values, func(Progress)) (*Report, error) {
	return nil, errTodo
}

func (speculationLab) Run(context.Context, Env, Values, func(Progress)) (*Report, error) {
	return nil, errTodo
}

func (stopsLab) Run(context.Context, Env, Values, func(Progress)) (*Report, error) {
	return nil, errTodo
}
