package session

import (
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer"
	"github.com/tokenbytoken/viz/infer/sampling"
	"github.com/tokenbytoken/viz/infer/terms"
)

// ruleNames are the names of the settings that [ReadRules] accepts: the settings that change
// scores, except the temperature.
var ruleNames = func() (names []string) {
	for _, k := range terms.Knobs() {
		if _, ok := sampling.Pure.Value(k.Key); ok && k.Key != "temperature" {
			names = append(names, k.Key)
		}
	}
	return append(names, "logit_bias", "samplers")
}()

// ReadRules applies the settings in text, such as "top_k=40 top_p=0.9", to s and returns the
// result. Names and ranges are the same as in the set command. The error is a [*terms.Refusal] that
// names the field.
func ReadRules(text string, s sampling.Settings) (sampling.Settings, error) {
	form := map[string]string{}
	for _, part := range strings.Fields(text) {
		name, value, ok := strings.Cut(part, "=")
		if _, twice := form[name]; !ok || twice || value == "" {
			return s, terms.Refuse(terms.CodeFormat, "run.rule.format", "rule", terms.Quoted(part))
		}
		if !slices.Contains(ruleNames, name) {
			return s, terms.Refuse(
				terms.CodeUnknown, "run.rule.unknown", "rule", terms.Quoted(name),
				"rules", strings.Join(ruleNames, ", "),
			)
		}
		form[name] = value
	}
	c, _, refused := Commands.Read("set", terms.TextFields(form))
	if refused != nil {
		return s, refused
	}
	next, err := c.(Set).on(infer.Settings{Settings: s, Stop: infer.DefaultSettings().Stop})
	if err == nil {
		err = next.Settings.Check()
	}
	if err != nil {
		return s, typed(err)
	}
	return next.Settings, nil
}
