package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/tokenbytoken/viz/infer/fixture"
)

// helperDir is the name of an environment variable. If the variable is set, the test binary acts as
// the process that the test kills.
const helperDir = "VIZ_TEST_STORE_DIR"

// writeUntilKilled stores one entry after another and prints the number of each as soon as
// it is confirmed.
func writeUntilKilled(dir string) {
	db, err := Open(dir, nil)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		if err := put(db, fmt.Sprintf("%d-%d", os.Getpid(), i), strconv.Itoa(i)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

// TestKilledProcessKeepsConfirmedEntries: if a process is killed at any moment, every entry
// that it confirmed is stored, and no data has to be set aside.
func TestKilledProcessKeepsConfirmedEntries(t *testing.T) {
	kills := 1
	if fixture.LongTier() {
		kills = 100
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), helperDir+"="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		confirmed, wait := -1, 1+random.IntN(60)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("the process printed %q, want a number", lines.Text())
			}
			if confirmed = n; n == wait {
				if err := c.Process.Kill(); err != nil { // SIGKILL; output printed before it can still be read
					t.Fatal(err)
				}
			}
		}
		c.Wait()
		if confirmed < wait {
			t.Fatalf(
				"the process ended after %d entries, want at least %d: %s", confirmed, wait, c.ProcessState,
			)
		}
		db := opened(t, dir)
		if n := db.Notices(); len(n) != 0 {
			t.Fatalf("after a kill: got notices %v, want 0 elements", n)
		}
		for i := range confirmed + 1 {
			if got := get(t, db, fmt.Sprintf("%d-%d", c.Process.Pid, i)); got != strconv.Itoa(i) {
				t.Fatalf("entry %d of %d confirmed entries is %q, want %q", i, confirmed+1, got, strconv.Itoa(i))
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left := strings.Join(aside(t, dir), " "); left != "" {
		t.Errorf("data set aside after the kill: got %s, want none", left)
	}
}
