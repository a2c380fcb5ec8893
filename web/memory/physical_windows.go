package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is the structure MEMORYSTATUSEX of Windows.
type memoryStatus struct {
	length                                                                    uint32
	load                                                                      uint32
	physical, available, pages, freePages, virtual, freeVirtual, extendedFree uint64
}

// physical returns the size of the machine's memory.
func physical() (int64, bool) {
	var s memoryStatus
	s.length = uint32(unsafe.Sizeof(s))
	ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s)))
	return int64(s.physical), ok != 0
}
