package memory

import (
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
)

const gib = 1 << 30

// TestLimitFoundInControlGroups: in both versions of control groups, the lowest limit among a
// container's group and its parents applies. Without such a limit, the limit is half of the
// machine's memory.
func TestLimitFoundInControlGroups(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s + "\n")} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  Limit
	}{
		"no control groups": {fstest.MapFS{}, 4 * gib},
		"version 2, in a container": {fstest.MapFS{
			"proc/self/cgroup":         file("0::/"),
			"sys/fs/cgroup/memory.max": file("1073741820"), // 5 × 214748364
		}, 4 * 214748364},
		"version 2, a limit above": {fstest.MapFS{
			"proc/self/cgroup":                                  file("0::/system.slice/viz.service"),
			"sys/fs/cgroup/system.slice/memory.max":             file("1000"),
			"sys/fs/cgroup/system.slice/viz.service/memory.max": file("max"),
		}, 800},
		"version 2, no limit": {fstest.MapFS{
			"proc/self/cgroup":         file("0::/"),
			"sys/fs/cgroup/memory.max": file("max"),
		}, 4 * gib},
		"version 1, its own path is not visible": {fstest.MapFS{
			"proc/self/cgroup":                           file("5:cpu,cpuacct:/docker/a\n4:memory:/docker/a\n0::/"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("5000"),
		}, 4000},
		"version 1, no limit": {fstest.MapFS{
			"proc/self/cgroup":                           file("4:memory:/a"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712"),
		}, 4 * gib},
		"a limit beyond the machine": {fstest.MapFS{
			"proc/self/cgroup":         file("0::/"),
			"sys/fs/cgroup/memory.max": file("17179869184"),
		}, 4 * gib},
		"a file that makes no sense": {fstest.MapFS{
			"proc/self/cgroup":         file("0::/\nwhat"),
			"sys/fs/cgroup/memory.max": file("much"),
		}, 4 * gib},
	} {
		if got := found(c.files, 8*gib); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// TestApplyRefusesExceededLimit: a limit that the program already exceeds is refused. Otherwise,
// runs get three fifths of the remaining memory.
func TestApplyRefusesExceededLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	if _, err := Limit(1 << 20).Apply(); err == nil || !strings.Contains(err.Error(), "at least") {
		t.Errorf("a limit of 1 MiB: got error %v, want an error containing %q", err, "at least")
	}
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("a refused limit changed the limit to %d, want %d", got, before)
	}
	least, err := Limit(1 << 20).ApplyOrMore()
	if err != nil || least.Limit <= 1<<20 || least.Limit > gib || least.Runs < leastRuns {
		t.Errorf(
			"a larger limit: got %+v, %v; want no error, Limit more than 1<<20 and at most %d, Runs at least %d",
			least, err, gib,
			leastRuns,
		)
	}
	debug.SetMemoryLimit(before)
	b, err := Limit(2 * gib).Apply()
	if most := int64(2 * gib * 3 / 5); err != nil || b.Limit != 2*gib || b.Runs >= most || b.Runs < most-gib/2 {
		t.Errorf(
			"of 2 GiB, runs may use %d, %v; want no error, b.Limit = %d, b.Runs less than %d and at least %d", b.Runs,
			err, 2*gib, most, most-gib/2,
		)
	}
	if got := debug.SetMemoryLimit(-1); got >= 2*gib || got < gib {
		t.Errorf("the runtime's limit is %d, want less than %d and at least %d", got, 2*gib, gib)
	}
}

// TestDefaultIsGOMEMLIMIT: the default limit of a process is GOMEMLIMIT, even if a server in
// the process has set another limit.
func TestDefaultIsGOMEMLIMIT(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	first := Default()
	if _, err := first.ApplyOrMore(); err != nil {
		t.Fatal(err)
	}
	if got := Default(); got != first {
		t.Errorf("the second server's limit is %d, want the same as the first one's, %d", got, first)
	}
	defer func(n int64) { environment = n }(environment)
	environment = 3 * gib
	if got := Default(); got != 3*gib {
		t.Errorf("with GOMEMLIMIT, the default is %d, want %d", got, 3*gib)
	}
}

// TestResidentCountsUsedMemory: memory that is allocated and used counts as resident.
func TestResidentCountsUsedMemory(t *testing.T) {
	before := Resident()
	if before <= 0 || before > math.MaxInt64/2 {
		t.Fatalf("got %d bytes, want more than 0 and at most %d", before, math.MaxInt64/2)
	}
	const size = 256 << 20
	used := make([]byte, size)
	for i := 0; i < size; i += os.Getpagesize() {
		used[i] = 1
	}
	if grown := Resident() - before; grown < size*9/10 {
		t.Errorf("resident memory grew by %d bytes after %d were used; want at least %d", grown, size, size*9/10)
	}
	if n, ok := ResidentOf(os.Getpid()); ok && n < int64(len(used)) {
		t.Errorf("the memory of this process, by its pid: got %d bytes, want at least %d", n, len(used))
	}
}
