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

// unknownMachine is assumed of a machine that does not say how much memory it has.
const unknownMachine = 4 << 30

// environment is GOMEMLIMIT as the runtime has read it, before [Limit.Apply] sets a
// limit of its own: one that servers in the same process take for theirs would get
// lower with each of them.
var environment = debug.SetMemoryLimit(-1)

// Default is the limit of a process that is given none: GOMEMLIMIT if it is set, else
// four fifths of what its container may use, or half of the machine's memory, which
// other programs use too.
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

// container is the lowest limit on memory of the control groups that the process is
// in, of either version.
func container(system fs.FS) (least int64, limited bool) {
	groups, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	look := func(folder, group, file string) {
		// The limits of the groups above apply too. In a container the group's
		// own path may not be visible: its root then stands for the group.
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
		// hierarchy:controllers:path, the second empty in version 2
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

// limitIn reads a control group's limit. Version 2 writes "max" for none, version 1 a
// number that no machine reaches.
func limitIn(system fs.FS, name string) (int64, bool) {
	b, err := fs.ReadFile(system, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil && n > 0 && n < 1<<60
}

// machine is how much memory the machine has.
func machine() int64 {
	if n, ok := physical(); ok {
		return n
	}
	return unknownMachine
}

// Available is the memory that Linux says programs may still use; other systems have
// no file for it.
func Available() (int64, bool) { return meminfo("MemAvailable") }

// meminfo reads one number of Linux's overview.
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
