package kernel

import "syscall"

// preferHugePages asks Linux for them. Where it has none, weights work as well
// and more slowly, so that an error is nothing to tell of.
func preferHugePages(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
