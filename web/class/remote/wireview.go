package remote

import (
	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/terms"
	"github.com/tokenbytoken/viz/web/class"
	"github.com/tokenbytoken/viz/web/session"
)

// wireView is a view as the owner publishes it. It does not include the state of the run: since
// runs are deterministic, each server recreates the state from its link in its own run ([replica]).
type wireView struct {
	Epoch uint64
	View  *class.View
	Walk  string // slug of View.Walk
	Step  int
	Left  bool
	Run   *wireRun // nil if View.State is nil

	Problem *terms.EncodedRefusal // View.Notice
}

// wireRun is a state without its steps, which can be recreated from the link.
type wireRun struct {
	Link     string // "" before the first text
	Started  bool
	Text     uint64
	Settings infer.Settings
	Ghosts   []infer.Token
	Playing  bool
	Speed    session.Speed
	Ends     bool // Finishing
	Branches []session.Branch
	WhatIf   *float64
	Looking  bool
	Notice   string
	Stuck    *terms.EncodedRefusal
}
