package fault

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// broken panics because of a bug.
func broken(list []int) int { return list[len(list)] }

func TestDoTurnsPanicsIntoErrors(t *testing.T) {
	t.Parallel()
	own := errors.New("its own")
	for name, c := range map[string]struct {
		do     func() error
		fault  bool
		logged []string
	}{
		"nothing happens": {func() error { return nil }, false, nil},
		"an error":        {func() error { return own }, false, nil},
		"a mistake": {
			func() error { broken(nil); return nil }, true, []string{"index out of range", "fault.broken"},
		},
		"a value": {
			func() error { panic("what somebody typed") }, true, []string{"err=string", "TestDoTurnsPanicsIntoErrors"},
		},
		"passed on": {
			func() error { panic(Try(func() error { broken(nil); return nil })) }, true,
			[]string{"index out of range", "fault.broken", "re-panicked in"},
		},
	} {
		var log strings.Builder
		err := Do(slog.New(slog.NewTextHandler(&log, nil)), "a test", c.do)
		var f *Fault
		if errors.As(err, &f) != c.fault || !c.fault && err != c.do() {
			t.Errorf(
				"%s: got error %v; want it to be a fault: %t, or else the function's own error", name, err, c.fault,
			)
		}
		for _, want := range c.logged {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: the log lacks %q: %s", name, want, &log)
			}
		}
		if strings.Contains(log.String(), "typed") || !c.fault && log.Len() > 0 {
			t.Errorf("%s: got log %s, want no typed text, and no log at all without a fault", name, &log)
		}
	}
}
