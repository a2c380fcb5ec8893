package ui

import (
	"github.com/a-h/templ"

	"github.com/tokenbytoken/viz/web/view"
)

// Panel is a part of the page that is replaced as a whole.
type Panel struct {
	ID     string
	Render func(view.Loop) templ.Component
}

// Panels are all of them, in the order in which they stand on the page.
var Panels = []Panel{
	{"strip-prompt", func(v view.Loop) templ.Component { return stripPrompt(v.Strip) }},
	{"strip-label", func(v view.Loop) templ.Component { return stripLabel(v.Strip) }},
	{"strip-next", func(v view.Loop) templ.Component { return stripNext(v.Strip) }},
	{"peek", func(v view.Loop) templ.Component { return Peek(v.Strip.Peek) }},
	{"branch-count", func(v view.Loop) templ.Component { return branchCount(v.Strip.Branches) }},
	{"branches", func(v view.Loop) templ.Component { return branches(v.Strip.Branches) }},
	{"rail", func(v view.Loop) templ.Component { return rail(v.Rail) }},
	{"notice", func(v view.Loop) templ.Component { return notice(v.Notice) }},
	{"panel", func(v view.Loop) templ.Component { return stagePanel(v.Panel) }},
	{"whatif-say", func(v view.Loop) templ.Component { return whatIfSay(v.WhatIf) }},
	{"cost", func(v view.Loop) templ.Component { return cost(v.Cost) }},
	{"cost-chart", func(v view.Loop) templ.Component { return costChart(v.Chart) }},
	{"cost-table", func(v view.Loop) templ.Component { return costTable(v.Chart) }},
	{"tokens", func(v view.Loop) templ.Component { return tokens(v.Cost) }},
	{"transport", func(v view.Loop) templ.Component { return transport(v.Console) }},
	{"scrub-say", func(v view.Loop) templ.Component { return scrubSay(v.Console.Scrub) }},
	{"progress", func(v view.Loop) templ.Component { return progress(v.Console.Progress) }},
	{"presets", func(v view.Loop) templ.Component { return presets(v.Console) }},
	{"filter-note", func(v view.Loop) templ.Component { return filterNote(v.Console) }},
	{"filter-order", func(v view.Loop) templ.Component { return filterOrder(v.Console) }},
	{"out-temperature", outputOf(view.FieldTemperature)},
	{"out-top_k", outputOf(view.FieldTopK)},
	{"out-top_p", outputOf(view.FieldTopP)},
	{"out-min_p", outputOf(view.FieldMinP)},
	{"out-typical_p", outputOf(view.FieldTypicalP)},
	{"stops-head", func(v view.Loop) templ.Component { return stopsHead(v.Console) }},
	{"out-max_tokens", func(v view.Loop) templ.Component { return maxTokens(v.Console) }},
	{"stops", func(v view.Loop) templ.Component { return stops(v.Console) }},
	{"spoken", func(v view.Loop) templ.Component { return spoken(v.Spoken) }},
}

func outputOf(field string) func(view.Loop) templ.Component {
	return func(v view.Loop) templ.Component { return output(field, v.Console.Out[field]) }
}
