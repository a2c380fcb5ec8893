package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// preparations returns the steps that must run before any step that needs a browser or a compiler.
func preparations() []step {
	return []step{{name: "Go toolchain", run: commands("go version")}, {name: "installation", run: installMissing}}
}

// checks returns the steps of every run, starting with the steps that fail early. Only the go vet
// step runs vet; the tests skip it with -vet=off.
func checks() []step {
	return append(
		preparations(),
		step{name: "commands in README", run: checkReadme},
		step{name: "generated templates", run: commands("go tool templ generate -check")},
		step{name: "gofumpt", run: checkFormat},
		step{name: "go vet", run: commands("go vet ./...")},
		step{name: "staticcheck", run: commands("go tool staticcheck ./...")},
		step{name: "static build", run: buildStatic},
		// The reduced plotting library that is built for browsers must draw the same charts.
		step{name: "browser program", run: commands(
			"go run ./cmd/viz/tab/build -vet",
			"go test -vet=off -modfile=.build/wasm/viz.mod -tags=minimal ./plots",
		)},
		step{name: "go test ./...", run: commands("go test -vet=off ./...")},
		step{name: "race detector", run: commands(
			raceTest+"-short -run "+racedEngine.pattern()+" "+strings.Join(racedEngine.packages, " "),
			raceTest+"-short "+racedPackages,
		)},
	)
}

// nightlyChecks returns the steps that only a nightly run includes. The race-detector step skips
// browser tests that only inspect a page or send the same requests as another test of the same
// feature, since they would take minutes. It also skips memory-limit tests, since the detector
// multiplies memory use.
func nightlyChecks() []step {
	skip := "Accessible|Practice|Drill|Dialogs|^TestTour$|Motion|^TestWays|EveryHand|Deep|Reflow|Paper|Sheet|" +
		"SaysWhat|LeadNowhere|VotesFit|LookInside|MemoryInARush"
	return []step{
		{name: "race detector, all of web", run: commands(raceTest + "-short ./infer/lab ./web/...")},
		{name: "race detector, with browsers", run: commands(
			raceTest + "-skip " + skip + " ./cmd/viz ./web ./web/loop ./web/labs ./web/classroom",
		)},
	}
}

const raceTest = "CGO_ENABLED=1 go test -race -vet=off -timeout=30m "

// racedPackages are the packages whose goroutines share memory. Their tests run under the race
// detector with -short, and thus without browsers.
const racedPackages = "./web/admission ./web/class ./web/class/room ./web/class/remote " +
	"./web/cluster ./web/journal ./web/journal/stream ./web/loop/runs ./web/wire"

// racedEngine selects the engine's tests that run under the race detector: the tests of its pool
// and of interrupted passes.
var racedEngine = part{packages: []string{"./infer", "./infer/pool", "./infer/speculation"}, tests: []string{
	"TestQueuedPassIsCanceledImmediately", "TestQueueTimeIsNotPassTime", "TestDroppedJobLeavesOthersUnchanged",
	"TestPanicStaysWithItsSlot", "TestClosedPoolRefusesNewPasses", "TestSlotReportsModelErrors",
	"TestPooledTextsMatchSoloRuns", "TestReplayRunsThroughASlot",
	"TestSixtyFourSessionsOnTwoWorkers", "TestCancellationLeavesTheLoopUsable",
	"TestInterruptedSpeculationContinues", "TestSpeculationThroughASlot",
}}

func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// installMissing installs Chromium for the browser tests, a C compiler for the race detector, and
// curl for the test that runs the API example, unless they are already installed.
func installMissing(r *runner) error {
	var packages []string
	if os.Getenv("VIZ_CHROMIUM") == "" &&
		!slices.ContainsFunc([]string{"chromium-headless-shell", "chromium", "google-chrome"}, has) {
		packages = append(packages, "chromium-headless-shell")
	}
	compiler, err := r.output("go", "env", "CC")
	if err != nil {
		return err
	}
	if !has(strings.TrimSpace(compiler)) {
		packages = append(packages, "gcc", "libc6-dev")
	}
	if !has("curl") {
		packages = append(packages, "curl")
	}
	return install(r, packages)
}

// install installs Debian packages. If no headless shell is available, it installs all of
// Chromium.
func install(r *runner, packages []string) error {
	if len(packages) == 0 {
		fmt.Fprintln(r.out, "nothing to install")
		return nil
	}
	if !has("apt-get") {
		return fmt.Errorf(
			"apt-get, which would install these missing packages, is not available: %s", strings.Join(packages, " "),
		)
	}
	var root []string
	if os.Geteuid() != 0 {
		root = []string{"sudo"}
	}
	if err := r.run(slices.Concat(root, []string{"apt-get", "update"})...); err != nil {
		return err
	}
	get := slices.Concat(root, []string{
		"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends",
	})
	err := r.run(slices.Concat(get, packages)...)
	if i := slices.Index(packages, "chromium-headless-shell"); err != nil && i >= 0 {
		packages[i] = "chromium"
		err = r.run(slices.Concat(get, packages)...)
	}
	return err
}

func checkReadme(*runner) error {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	for _, c := range []string{"go run ./cmd/viz", "go test ./..."} {
		if !strings.Contains(string(readme), c) {
			return fmt.Errorf("README.md does not contain the command: %s", c)
		}
	}
	return nil
}

// checkFormat checks that hand-written Go files are formatted with gofumpt.
func checkFormat(r *runner) error {
	list, err := r.output("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.go")
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(strings.Fields(list), func(name string) bool {
		_, err := os.Stat(name)
		return strings.HasSuffix(name, "_templ.go") || err != nil // deleted, but not committed yet
	})
	wrong, err := r.output(append([]string{"go", "tool", "gofumpt", "-l"}, files...)...)
	if err == nil && wrong != "" {
		err = fmt.Errorf("files not formatted with gofumpt; run make generate:\n%s", wrong)
	}
	return err
}

// sizeLimit is the maximum size of the stripped program in bytes.
const sizeLimit = 64 << 20

func buildStatic(r *runner) error {
	dir, err := os.MkdirTemp("", "viz-ci-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	viz := filepath.Join(dir, "viz")
	err = r.run("CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", viz, "./cmd/viz")
	if err != nil {
		return err
	}
	if err := r.run(viz, "-version"); err != nil {
		return err
	}
	file, err := os.Stat(viz)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "stripped binary: %d bytes (limit %d)\n", file.Size(), sizeLimit)
	if file.Size() > sizeLimit {
		return fmt.Errorf("the stripped binary exceeds the size limit")
	}
	return nil
}
