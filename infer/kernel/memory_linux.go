package kernel

import "syscall"

// preferHugePages asks Linux for them. Where it has none, weights work as well
// and more slowly, so an error needs no report.
func preferHugePages(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
