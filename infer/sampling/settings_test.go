package sampling

import (
	"errors"
	"math"
	"testing"
)

func TestCheckNamesTheField(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, row := range []struct {
		field  string
		values []float64 // each must be rejected
		fine   []float64 // each must be accepted
		want   string
		set    func(*Settings, float64)
	}{
		{
			"temperature",
			[]float64{nan, inf, -inf, -1e-300, -1, 100.1},
			[]float64{0, 5e-324, 0.7, 1, 100},
			"0 (greedy) to 100",
			func(s *Settings, v float64) { s.Temperature = v },
		},
		{
			"top_k",
			[]float64{-1, math.MinInt32},
			[]float64{0, 1, 40, math.MaxInt32},
			"0 (off) or more",
			func(s *Settings, v float64) { s.TopK = int(v) },
		},
		{
			"top_p",
			[]float64{nan, inf, -inf, 0, -0.5, math.Nextafter(1, 2)},
			[]float64{5e-324, 0.9, 1},
			"above 0, up to 1 (off)",
			func(s *Settings, v float64) { s.TopP = v },
		},
		{
			"min_p",
			[]float64{nan, inf, -inf, -0.1, 1.5},
			[]float64{0, 0.05, 1},
			"0 (off) to 1",
			func(s *Settings, v float64) { s.MinP = v },
		},
	} {
		for _, v := range row.values {
			err := with(func(s *Settings) { row.set(s, v) }).Check()
			var r *RangeError
			if !errors.As(err, &r) || r.Field != row.field || r.Want.String() != row.want {
				t.Errorf("%s %v: %v, want a RangeError for %q with range %q", row.field, v, err, row.field, row.want)
			}
		}
		for _, v := range row.fine {
			if err := with(func(s *Settings) { row.set(s, v) }).Check(); err != nil {
				t.Errorf("%s %v: got error %v, want none", row.field, v, err)
			}
		}
	}
	if (Settings{}).Check() == nil {
		t.Error("the zero Settings are accepted")
	}
}

func TestRangeErrorText(t *testing.T) {
	err := Settings{Temperature: math.NaN(), TopP: 1}.Check()
	if want := "temperature is NaN; it must be 0 (greedy) to 100"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	err = Settings{Temperature: 1, TopP: 1.5}.Check()
	if want := "top_p is 1.5; it must be above 0, up to 1 (off)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestPresets(t *testing.T) {
	want := map[string]Settings{
		"greedy": {Temperature: 0, TopK: 0, TopP: 1, MinP: 0},
		"pure":   {Temperature: 1, TopK: 0, TopP: 1, MinP: 0},
		"top_k":  {Temperature: 1, TopK: 40, TopP: 1, MinP: 0},
		"top_p":  {Temperature: 1, TopK: 0, TopP: 0.9, MinP: 0},
		"common": {Temperature: 0.7, TopK: 0, TopP: 0.9, MinP: 0},
	}
	if len(Presets) != len(want) {
		t.Errorf("%d presets, want %d", len(Presets), len(want))
	}
	for _, p := range Presets {
		if err := p.Check(); err != nil || p.Settings != want[p.Key] {
			t.Errorf("preset %s is %+v (%v), want %+v", p.Key, p.Settings, err, want[p.Key])
		}
		byKey, ok := PresetByKey(p.Key)
		back, found := PresetOf(p.Settings)
		if !ok || !found || byKey != p || back != p {
			t.Errorf("preset %s is not found: %v by its key, %v by its settings", p.Key, byKey, back)
		}
	}
	if _, ok := PresetByKey("warm"); ok {
		t.Error("there is a preset named warm")
	}
	if _, ok := PresetOf(Settings{Temperature: 0.71, TopP: 0.9}); ok {
		t.Error("a preset matches temperature 0.71 and top-p 0.9")
	}
}
