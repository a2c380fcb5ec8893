package kernel

import "syscall"

// preferHugePages asks Linux for them. Without them weights work too, only
// slower, so the error is ignored.
func preferHugePages(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
