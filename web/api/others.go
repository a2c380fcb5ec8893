package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// other describes how to handle a field that has no effect on this server. A label is accepted with
// any value, because it cannot change the answer. Any other field is accepted only with a value
// that turns it off. All other values are refused, so that no value that would change an answer is
// ignored.
type other struct {
	label bool
	off   []string // the values that turn the field off, as JSON
	// without lists settings. If all of them are off, the field has no effect, whatever its
	// value.
	without []string
	// ends lists the fields that are ignored if this field is turned off.
	ends []string
	why  string // why other values are refused; if "", the error lists the accepted values
}

// penalties lists the settings that other programs apply only to the most recent tokens.
var penalties = []string{"repetition_penalty", "frequency_penalty", "presence_penalty"}

// others contains the fields of the published API, llama.cpp and vLLM that are not settings here,
// and the values that turn settings off in other programs. The names of nested fields are paths,
// such as "messages[].name".
var others = map[string]other{
	"user":                               {label: true},
	"metadata":                           {label: true},
	"store":                              {label: true},
	"service_tier":                       {label: true},
	"safety_identifier":                  {label: true},
	"prompt_cache_key":                   {label: true},
	"prompt_cache_retention":             {label: true},
	"prediction":                         {label: true}, // a guess at the answer, which only saves time
	"parallel_tool_calls":                {label: true}, // tools themselves are refused
	"stream_options.include_obfuscation": {label: true},
	"messages[].name":                    {label: true},
	"messages[].annotations":             {label: true},
	"messages[].cache_control":           {label: true},
	"messages[].content[].cache_control": {label: true},

	"cache_prompt":       {label: true},
	"id_slot":            {label: true},
	"speculative.n_max":  {label: true},
	"speculative.n_min":  {label: true},
	"speculative.p_min":  {label: true},
	"dynatemp_exponent":  {label: true}, // dynatemp_range itself is refused
	"request_id":         {label: true},
	"priority":           {label: true},
	"cache_salt":         {label: true},
	"keep_alive":         {label: true},
	"logprobs":           {off: []string{`false`}},
	"top_logprobs":       {off: []string{`0`}, why: "it requires logprobs: true"},
	namedIDs:             {off: []string{`[]`}},
	namedTexts:           {off: []string{`[]`}},
	"logit_bias":         {off: []string{`{}`, `[]`}},
	"echo":               {off: []string{`false`}, why: "a chat's answer never includes its messages"},
	"best_of":            {off: []string{`1`}, why: "every generated answer is returned; see n"},
	"suffix":             {off: []string{`""`}, why: "the model can only continue a text, not fill a gap in it"},
	"tools":              {off: []string{`[]`}, why: noTools},
	"tool_choice":        {off: []string{`"none"`, `"auto"`}, why: noTools},
	"functions":          {off: []string{`[]`}, why: noTools},
	"function_call":      {off: []string{`"none"`, `"auto"`}, why: noTools},
	"web_search_options": {why: "the model cannot search the web"},
	"audio":              {why: noText},
	"modalities":         {off: []string{`["text"]`}, why: noText},
	"reasoning_effort":   {off: []string{`"none"`}, why: "a model's reasoning is part of its answer"},
	"verbosity":          {off: []string{`"medium"`}, why: "the prompt or max_tokens sets the length of an answer"},

	"messages[].tool_calls":                 {off: []string{`[]`}, why: noTools},
	"messages[].function_call":              {why: noTools},
	"messages[].audio":                      {why: noText},
	"messages[].refusal":                    {off: []string{`""`}},
	"messages[].reasoning_content":          {off: []string{`""`}, why: "chat templates only receive role and content"},
	"messages[].prefix":                     {off: []string{`false`}},
	"stream_options.include_usage":          {off: []string{`false`}},
	"stream_options.continuous_usage_stats": {off: []string{`false`}},

	"top_k":                 {off: []string{`-1`}},
	"top_n_sigma":           {off: []string{`-1`}},
	"mirostat":              {off: []string{`0`}, ends: mirostat, why: "mirostat_tau turns on Mirostat 2.0"},
	"dynatemp_range":        {off: []string{`0`}},
	"tfs_z":                 {off: []string{`1`}},
	"top_a":                 {off: []string{`0`}},
	"adaptive_target":       {off: []string{`-1`}},
	"smoothing_factor":      {off: []string{`0`}},
	"min_keep":              {off: []string{`0`, `1`}},
	"repeat_last_n":         {off: []string{`-1`}, without: penalties, why: "penalties always use the whole text (-1)"},
	"penalize_nl":           {off: []string{`true`}, without: penalties},
	"dry_penalty_last_n":    {off: []string{`-1`}, without: []string{"dry_multiplier"}},
	"dry_sequence_breakers": {off: []string{`[]`}, without: []string{"dry_multiplier"}},
	"grammar":               {off: []string{`""`}, why: "grammars are set with json_schema or regex"},
	"ignore_eos":            {off: []string{`false`}, why: "a bias of -100 on the end-of-text token has this effect"},
	"min_tokens":            {off: []string{`0`}},
	"n_keep":                {off: []string{`0`, `-1`}, why: "a text ends when the context is full"},
	"n_discard":             {off: []string{`0`}, why: "a text ends when the context is full"},
	"n_indent":              {off: []string{`0`}},
	"n_probs":               {off: []string{`0`}, why: "log-probabilities are requested with logprobs"},
	"post_sampling_probs":   {off: []string{`false`}, why: "log-probabilities are always those before sampling"},
	"t_max_predict_ms":      {off: []string{`0`, `-1`}},
	"return_tokens":         {off: []string{`false`}},
	"return_progress":       {off: []string{`false`}},
	"timings_per_token":     {off: []string{`false`}},
	"response_fields":       {off: []string{`[]`}},
	"reasoning_format":      {off: []string{`"none"`}, why: "a model's reasoning is part of its answer"},
	"image_data":            {off: []string{`[]`}, why: noText},
	"lora":                  {off: []string{`[]`}},

	"use_beam_search":               {off: []string{`false`}},
	"length_penalty":                {off: []string{`1`}},
	"stop_token_ids":                {off: []string{`[]`}},
	"allowed_token_ids":             {off: []string{`[]`}},
	"bad_words":                     {off: []string{`[]`}},
	"logits_processors":             {off: []string{`[]`}},
	"include_stop_str_in_output":    {off: []string{`false`}},
	"skip_special_tokens":           {off: []string{`true`}},
	"spaces_between_special_tokens": {off: []string{`true`}},
	"prompt_logprobs":               {why: "a completion with echo and logprobs includes them"},
	"truncate_prompt_tokens":        {off: []string{`-1`}},
	"documents":                     {off: []string{`[]`}},
	"return_token_ids":              {off: []string{`false`}},
	"return_tokens_as_token_ids":    {off: []string{`false`}},
}

const (
	noTools = "the model cannot call tools"
	noText  = "the model only reads and writes text"
)

// mirostat lists the settings of Mirostat, which clients of llama.cpp send even if it is off.
var mirostat = []string{"mirostat_tau", "mirostat_eta"}

// setAside removes an object's fields that have no effect. [others] lists these fields with the
// prefix within. setAside returns the names of the removed fields, except those that act at a
// stage.
func setAside(within string, all map[string]json.RawMessage) (names []string) {
	for _, field := range slices.Sorted(maps.Keys(all)) {
		name := within + field
		o := others[name]
		if !o.label && !slices.ContainsFunc(o.off, func(off string) bool { return sameJSON(off, all[field]) }) {
			continue
		}
		delete(all, field)
		for _, ended := range o.ends {
			delete(all, ended)
		}
		if actsAt(name) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// sameJSON reports whether a value equals a short JSON value. 0 and 0.0 are equal.
func sameJSON(short string, raw json.RawMessage) bool {
	var a, b any
	return len(raw) < 100 && json.Unmarshal([]byte(short), &a) == nil && json.Unmarshal(raw, &b) == nil &&
		reflect.DeepEqual(a, b)
}

// setAsideUnder removes the fields that have no effect with these settings, and returns their
// names.
func setAsideUnder(s sampling.Settings, all map[string]json.RawMessage) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		without := others[name].without
		on := slices.ContainsFunc(without, func(key string) bool {
			x, _ := s.Value(key)
			off, _ := sampling.OffAt(key)
			return x != off
		})
		if len(without) > 0 && !on {
			delete(all, name)
			names = append(names, name)
		}
	}
	return names
}

// rest returns an error for the first unread field, if there is one. It reports tools before the
// fields that describe tools.
func rest(f *terms.Fields) error {
	all := f.Rest()
	if len(all) == 0 {
		return nil
	}
	name := slices.Min(slices.Collect(maps.Keys(all)))
	if _, given := all["tools"]; given {
		name = "tools"
	}
	o, known := others[name]
	switch {
	case !known:
		return wrong(
			terms.Shortened(name, 40), "unknown_parameter", "This endpoint has no parameter %s.", terms.Quoted(name),
		)
	case o.why != "":
		return unsupported(name, o.why)
	}
	return unsupported(name, "the only accepted value is "+strings.Join(o.off, " or ")+", which has no effect")
}
