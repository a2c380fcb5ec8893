package kernel

import "syscall"

// preferHugePages asks Linux for huge pages. Without huge pages, the program is only slower, so the
// error is ignored.
func preferHugePages(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
