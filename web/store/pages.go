package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// usualPage is the page size of all database files of this program.
const usualPage = 4096

// pages reads the pages of a database as of its last commit, from the file or, if there is a
// newer version, from the write-ahead log. It needs neither an intact header nor an intact
// tree. See https://sqlite.org/fileformat2.html.
type pages struct {
	file  *os.File
	log   *os.File // nil if there is no log
	size  int
	count uint32           // number of pages; the first page has number 1
	moved map[uint32]int64 // offsets in the log of the newest versions of pages
}

func pagesOf(path string) (p *pages, err error) {
	p = &pages{size: usualPage, moved: map[uint32]int64{}}
	if p.file, err = os.Open(path); err != nil {
		return nil, err
	}
	info, err := p.file.Stat()
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	var head [18]byte
	if _, err := p.file.ReadAt(head[:], 0); err == nil && string(head[:16]) == "SQLite format 3\x00" {
		if n := int(binary.BigEndian.Uint16(head[16:])); n >= 512 && n&(n-1) == 0 {
			p.size = n
		}
	}
	p.count = uint32(min((info.Size()+int64(p.size)-1)/int64(p.size), 1<<31))
	if p.log, err = os.Open(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return p, nil
	} else if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.readLog()
	return p, nil
}

func (p *pages) close() error {
	err := p.file.Close()
	if p.log != nil {
		err = errors.Join(err, p.log.Close())
	}
	return err
}

// Sizes in the write-ahead log, in bytes.
const (
	logHeader   = 32
	frameHeader = 24
)

// readLog finds the pages of committed transactions in the log. It stops at a damaged frame,
// as SQLite does.
func (p *pages) readLog() {
	var head [logHeader]byte
	if _, err := p.log.ReadAt(head[:], 0); err != nil {
		return
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch binary.BigEndian.Uint32(head[:]) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return
	}
	sum := checksum(order, [2]uint32{}, head[:24])
	if sum != sums(head[24:]) || binary.BigEndian.Uint32(head[8:]) != uint32(p.size) {
		return
	}
	frame := make([]byte, frameHeader+p.size)
	open := map[uint32]int64{} // pages of a transaction that has not been committed yet
	for at := int64(logHeader); ; at += int64(len(frame)) {
		if _, err := p.log.ReadAt(frame, at); err != nil {
			return
		}
		sum = checksum(order, checksum(order, sum, frame[:8]), frame[frameHeader:])
		if string(frame[8:16]) != string(head[16:24]) || sum != sums(frame[16:]) {
			return
		}
		open[binary.BigEndian.Uint32(frame)] = at + frameHeader
		if count := binary.BigEndian.Uint32(frame[4:]); count > 0 { // a commit
			for n, at := range open {
				p.moved[n] = at
			}
			clear(open)
			p.count = count
		}
	}
}

// checksum continues a checksum of the log with data, whose length must be a multiple of
// eight.
func checksum(order binary.ByteOrder, sum [2]uint32, data []byte) [2]uint32 {
	for ; len(data) >= 8; data = data[8:] {
		sum[0] += order.Uint32(data) + sum[1]
		sum[1] += order.Uint32(data[4:]) + sum[0]
	}
	return sum
}

func sums(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

var errNoPage = errors.New("no such page")

// read reads a page into buf. If the file ends within the page, the rest of buf is set to
// zero.
func (p *pages) read(n uint32, buf []byte) error {
	if n < 1 || n > p.count {
		return fmt.Errorf("%w: %d of %d", errNoPage, n, p.count)
	}
	from, at := p.file, int64(n-1)*int64(p.size)
	if moved, ok := p.moved[n]; ok {
		from, at = p.log, moved
	}
	got, err := from.ReadAt(buf[:p.size], at)
	clear(buf[got:p.size])
	if got > 0 && errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
