package grammar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/grammar"
)

// BenchmarkCompile measures how long it takes to compile a schema, or to find that it is too large.
func BenchmarkCompile(b *testing.B) {
	var properties []string
	for i := range 200 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string","pattern":"^[a-z]{%d}.*(x|yy)*$"}`, i, i))
	}
	branch, ref := `{"properties":{"a":{"const":1},"b":{"const":2}}},`, `{"$ref":"#/$defs/a"},`
	for name, schema := range map[string]string{
		"words":      `{"type":"array","items":{"enum":[` + words(3000) + `]},"maxItems":50}`,
		"patterns":   `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`,
		"length":     `{"type":"string","maxLength":20000}`,
		"products":   `{"maxItems":9999,"items":{"pattern":"^(a|b)*$","minLength":9,"maxLength":300}}`,
		"multiples":  `{"type":"array","maxItems":9999,"items":{"type":"integer","multipleOf":997}}`,
		"branches":   `{"oneOf":[` + strings.Repeat(branch, 400) + `true]}`,
		"values":     `{"enum":[` + words(3000) + `],"pattern":"^(w|[0-9])*$"}`,
		"references": `{"$defs":{"a":{}},"items":{"anyOf":[` + strings.Repeat(ref, 480) + `{}]},"maxItems":9999}`,
		"small":      schemas[18],
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = grammar.FromSchema([]byte(schema))
			}
		})
	}
}
