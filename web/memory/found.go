package memory

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// unknownMachine is the memory size assumed for a machine that does not report it.
const unknownMachine = 4 << 30

// environment is GOMEMLIMIT as the runtime read it at startup, before [Limit.Apply] sets a limit.
// Without it, each of several servers in one process would start from the limit set by the previous
// server, and the limit would get lower each time.
var environment = debug.SetMemoryLimit(-1)

// Default returns the limit for a process without an explicit one. If GOMEMLIMIT is set, it is the
// limit. Otherwise, the limit is four fifths of the memory limit of the process's container or, if
// there is no such limit, half of the machine's memory, since other programs use the machine too.
func Default() Limit {
	if environment != none {
		return Limit(environment)
	}
	return found(os.DirFS("/"), machine())
}

func found(system fs.FS, machine int64) Limit {
	if c, ok := container(system); ok && c < machine {
		return Limit(c / 5 * 4)
	}
	return Limit(machine / 2)
}

// container returns the lowest memory limit among the control groups (version 1 or 2) to which the
// process belongs.
func container(system fs.FS) (least int64, limited bool) {
	groups, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	look := func(folder, group, file string) {
		// The limits of parent groups apply too. In a container, the path of the process's own
		// group may not be visible; the root then stands for the group.
		for dir := path.Join("/", group); ; dir = path.Dir(dir) {
			if n, ok := limitIn(system, path.Join(folder, dir, file)); ok && (!limited || n < least) {
				least, limited = n, true
			}
			if dir == "/" {
				return
			}
		}
	}
	for line := range strings.Lines(string(groups)) {
		// The format is hierarchy:controllers:path, where controllers is empty in version 2.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(part) < 3:
		case part[1] == "":
			look("sys/fs/cgroup", part[2], "memory.max")
		case strings.Contains(","+part[1]+",", ",memory,"):
			look("sys/fs/cgroup/memory", part[2], "memory.limit_in_bytes")
		}
	}
	return least, limited
}

// limitIn reads a control group's limit. If there is no limit, the file contains "max" in
// version 2, and a number that no machine reaches in version 1.
func limitIn(system fs.FS, name string) (int64, bool) {
	b, err := fs.ReadFile(system, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil && n > 0 && n < 1<<60
}

// machine returns the size of the machine's memory.
func machine() int64 {
	if n, ok := physical(); ok {
		return n
	}
	return unknownMachine
}

// Available returns the memory that programs can still use, as reported by Linux. On other
// systems, it returns false.
func Available() (int64, bool) { return meminfo("MemAvailable") }

// meminfo reads one number from /proc/meminfo.
func meminfo(field string) (int64, bool) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib int64
		if n, _ := fmt.Sscanf(lines.Text(), field+": %d kB", &kib); n == 1 {
			return kib << 10, true
		}
	}
	return 0, false
}
