package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokenbytoken/viz/infer/fixture"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		part part
		want string
	}{
		{part{tests: []string{"TestA"}}, `^(TestA)$`},
		{part{tests: []string{"TestA", "TestB"}}, `^(TestA|TestB)$`},
		{part{tests: []string{"TestA"}, sub: `(owner|server)`}, `^(TestA)$/(owner|server)`},
	} {
		if got := c.part.pattern(); got != c.want {
			t.Errorf("pattern of %v is %q, want %q", c.part, got, c.want)
		}
	}
}

// TestBadNetworkPartsHaveEverySchedule: together, the parts of TestBadNetworks run each of its
// schedules exactly once.
func TestBadNetworkPartsHaveEverySchedule(t *testing.T) {
	for seed := range 1000 {
		in := 0
		for _, p := range badNetworks() {
			if regexp.MustCompile(p.sub).MatchString(fmt.Sprint("schedule_", seed)) {
				in++
			}
		}
		if in != 1 {
			t.Fatalf("schedule %d is in %d parts", seed, in)
		}
	}
}

// TestEveryPartHasItsTurn: over as many consecutive days of a year as there are parts, each part
// comes first exactly once, so every part is certain to run.
func TestEveryPartHasItsTurn(t *testing.T) {
	for first := 1; first+len(parts)-1 <= 365; first++ {
		began := map[string]bool{}
		for day := first; day < first+len(parts); day++ {
			began[partsOf(day)[0].name] = true
		}
		if len(began) != len(parts) {
			t.Fatalf("only %d of %d parts ever come first from day %d on, want all", len(began), len(parts), first)
		}
	}
	for n := 1; n < 300; n++ {
		starts := map[int]bool{}
		for day := range n {
			starts[day*stride(n)%n] = true
		}
		if len(starts) != n {
			t.Errorf("with %d parts, only %d ever come first, want all", n, len(starts))
		}
	}
}

func TestEveryFuzzTargetHasItsTurn(t *testing.T) {
	all, err := fuzzTargets(top)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(all, target{"./lessons", "FuzzLesson"}) || !slices.IsSortedFunc(all, func(a, b target) int {
		return strings.Compare(a.pkg, b.pkg)
	}) {
		t.Errorf("targets are %v, want FuzzLesson of ./lessons among them, sorted", all)
	}
	for n := 1; n <= len(all); n++ {
		ran := map[target]int{}
		days := (n + targetsADay - 1) / targetsADay
		for day := 1; day <= days; day++ {
			for _, x := range targetsOf(day, all[:n]) {
				ran[x]++
			}
		}
		if len(ran) != n {
			t.Errorf("%d of %d targets run in %d days", len(ran), n, days)
		}
	}
}

func TestPlan(t *testing.T) {
	targets := []target{{"./a", "FuzzA"}, {"./b", "FuzzB"}}
	count := func(steps []step, prefix string) (n int) {
		for _, s := range steps {
			if strings.HasPrefix(s.name, prefix) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		args                 string
		first, second        string
		checks, parts, fuzzy int
	}{
		{"", "Go toolchain", "installation", len(checks()), len(parts), 2},
		{"long", "Go toolchain", "installation", 2, len(parts), 0},
		{"long memory-rush loop-ways", "Go toolchain", "installation", 2, 2, 0},
		{"part-of ./web/store", "Go toolchain", "installation", 2, 3, 0},
		{"part-of web/store/ infer/chat", "Go toolchain", "installation", 2, 4, 0},
		{"fuzz", "fuzz FuzzA of ./a", "fuzz FuzzB of ./b", 0, 0, 2},
		{"fuzz all", "fuzz FuzzA of ./a", "fuzz FuzzB of ./b", 0, 0, 2},
		{"nightly", "Go toolchain", "installation", len(checks()) + 2, len(parts), 2},
		{"nightly " + parts[len(parts)-1].name, "Go toolchain", "installation", 2, 1, 2},
		{"nightly staticcheck", "Go toolchain", "installation", 9, len(parts), 2},
	} {
		steps, err := plan(strings.Fields(c.args), 332, targets)
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		long, fuzzy := count(steps, "long "), count(steps, "fuzz ")
		if steps[0].name != c.first || steps[1].name != c.second || long != c.parts || fuzzy != c.fuzzy ||
			len(steps) != c.checks+c.parts+c.fuzzy {
			t.Errorf("%q: %d steps begin with %q and %q and have %d parts and %d fuzz targets, want %+v",
				c.args, len(steps), steps[0].name, steps[1].name, long, fuzzy, c)
		}
	}
	for _, args := range []string{
		"nothing", "long no-such-part", "part-of", "part-of ./no/such", "fuzz some", "nightly no-such-step", "parts a",
	} {
		if steps, err := plan(strings.Fields(args), 1, targets); err == nil {
			t.Errorf("%q: %d steps, want an error", args, len(steps))
		}
	}
}

// TestRunAll: a failed step ends the run, but an incomplete step does not. A part that is skipped
// for lack of time is not listed.
func TestRunAll(t *testing.T) {
	var out strings.Builder
	r := &runner{out: &out, now: time.Now}
	const late incomplete = "timed out after 5m0s"
	steps := []step{
		{name: "version", run: commands("go version")},
		{name: "late", run: func(*runner) error { return late }, turns: "long"},
		{name: "setting", run: commands("GOOS=js go env GOOS")},
		{name: "wrong", run: commands("go no-such-command", "go version")},
		{name: "never", run: commands("go version")},
	}
	if !r.runAll(steps) {
		t.Error("the run passed, want it to fail at the step wrong")
	}
	var results []string
	for _, w := range r.rows {
		results = append(results, w.name+": "+w.result)
		if w.name == "version" && (w.cpu <= 0 || w.wall <= 0) {
			t.Errorf("go version took %v and %v of processor time, want more than 0", w.wall, w.cpu)
		}
	}
	want := []string{"version: ", "late: " + string(late), "setting: ", "wrong: FAILED"}
	if !slices.Equal(results, want) {
		t.Errorf("results are %q, want %q", results, want)
	}
	for _, want := range []string{
		"\n=== version\ngo version go", "\n=== setting\njs\n", "go no-such-command: exit status",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, &out)
		}
	}
}

// TestClockLeavesOutTurns: each rotation starts new turns until they have taken 200 seconds in
// total. Once the run has taken 15 minutes, only the very first turn still starts.
func TestClockLeavesOutTurns(t *testing.T) {
	for _, c := range []struct {
		name          string
		checks, turns time.Duration // time that the checks and each turn take
		want          string
	}{
		{"quick", 5 * time.Minute, time.Second, "checks a1 a2 a3 b1 b2"},
		{"long turns", time.Minute, 150 * time.Second, "checks a1 a2 b1 b2"},
		{"late", 17 * time.Minute, time.Second, "checks a1"},
		{"late among the turns", 14 * time.Minute, 40 * time.Second, "checks a1 a2"},
	} {
		var now time.Time
		r := &runner{out: io.Discard, now: func() time.Time { return now }}
		taking := func(name, rotation string, wall time.Duration) step {
			return step{name: name, turns: rotation, run: func(*runner) error {
				now = now.Add(wall)
				return nil
			}}
		}
		if r.runAll([]step{
			taking("checks", "", c.checks), taking("a1", "a", c.turns), taking("a2", "a", c.turns),
			taking("a3", "a", c.turns), taking("b1", "b", c.turns), taking("b2", "b", c.turns),
		}) {
			t.Errorf("%s: the run failed, want it to pass", c.name)
		}
		var got []string
		for _, w := range r.rows {
			got = append(got, w.name)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: the steps were %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	var out strings.Builder
	r := &runner{out: &out, rows: []row{
		{name: "go vet", wall: 1500 * time.Millisecond, cpu: 2 * time.Second},
		{name: "long loop-ways", wall: 5 * time.Minute, cpu: time.Minute, result: "timed out after 5m0s"},
	}}
	r.summarize()
	pad := func(name string) string { return name + strings.Repeat(" ", 60-len(name)) }
	table := "\n" + pad("step") + "      wall processor\n" +
		pad("go vet") + "     1.5 s     2.0 s\n" +
		pad("long loop-ways") + "   300.0 s    60.0 s  timed out after 5m0s\n"
	note := ".ci/run: did not pass: long loop-ways: timed out after 5m0s\n"
	want := table + pad("total") + "   301.5 s    62.0 s\n\n" + note + ".ci/run: all checks passed\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	out.Reset()
	r.rows = append(r.rows, row{name: "fuzz FuzzA of ./a", wall: time.Second, result: failed})
	r.summarize()
	want = table + pad("fuzz FuzzA of ./a") + "     1.0 s     0.0 s  FAILED\n" +
		pad("total") + "   302.5 s    62.0 s\n\n" + note + ".ci/run: FAILED at: fuzz FuzzA of ./a\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// TestPartsEndedByTheClock: a part that times out fails the run only if one of its tests had
// already failed.
func TestPartsEndedByTheClock(t *testing.T) {
	fixture.Long(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module hang\n\ngo 1.26\n",
		"hang_test.go": `package hang

import (
	"os"
	"testing"
)

func TestHangs(t *testing.T) { t.Log("noted"); select {} }
func TestFailsThenHangs(t *testing.T) {
	t.Run("one", func(t *testing.T) { t.Error("wrong") })
	select {}
}
func TestPasses(t *testing.T) { t.Log("noted"); t.Setenv("A", os.Getenv("VIZ_LONG")) }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct{ test, want, shown string }{
		{"TestPasses", "", ""},
		{"TestHangs", "timed out after 1s", "noted"},
		{"TestFailsThenHangs", "exit status 1", "wrong"},
	} {
		var out strings.Builder
		err := part{packages: []string{"."}, tests: []string{c.test}}.run(&runner{out: &out}, time.Second)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.HasSuffix(got, c.want) && c.want != "" {
			t.Errorf("%s: %v, want %q at the end", c.test, err, c.want)
		}
		if !strings.Contains(out.String(), c.shown) || strings.Contains(out.String(), "=== RUN") {
			t.Errorf("%s shows\n%s\nwant %q", c.test, &out, c.shown)
		}
	}
}

func TestOnlyTimedOut(t *testing.T) {
	const late = "panic: test timed out after 5m0s\nFAIL\ta\t300.1s\n"
	for log, want := range map[string]bool{
		late:                              true,
		late + late:                       true,
		late + "FAIL\tb [build failed]\n": false,
		"    --- FAIL: TestA/x\n" + late:  false,
		"panic: index\nFAIL\ta\t0.1s\n":   false,
	} {
		if got := onlyTimedOut(log); got != want {
			t.Errorf("%q: %v, want %v", log, got, want)
		}
	}
}

func TestFalseAlarm(t *testing.T) {
	const ended = "--- FAIL: FuzzA (4.1s)\n    context deadline exceeded\n"
	for log, want := range map[string]bool{
		ended: true,
		ended + "    Failing input written to testdata/fuzz/FuzzA/1\n": false,
		"--- FAIL: FuzzA (0.1s)\n    panic: index out of range\n":      false,
	} {
		if got := falseAlarm(log); got != want {
			t.Errorf("%q: %v, want %v", log, got, want)
		}
	}
}
