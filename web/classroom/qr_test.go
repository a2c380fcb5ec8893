package classroom

import (
	"fmt"
	"strings"
	"testing"
)

// This file decodes QR codes from their pictures, as a camera would, according to ISO/IEC
// 18004 and independently of the encoder.

// TestQRCodeReadsAsItsAddress: the picture of an address decodes to that address, and has a
// margin of four light modules on all sides.
func TestQRCodeReadsAsItsAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"http://h/c",                                                              // version 1
		"http://127.0.0.1:8080/",                                                  // 2
		"https://class.example/class/K7Q4MX",                                      // 3
		"http://192.168.100.200:18080/class/K7Q4MX",                               // 3
		"http://[2001:db8:85a3::8a2e:370:7334]:8080/class/K7Q4MX",                 // 4, in two blocks
		"https://token-by-token.informatics.university.example:8443/class/K7Q4MX", // 5
		// 6, in four blocks
		"https://token-by-token.informatics.university.example:8443/a/longer/way/than/most/class/are/K7Q4MX",
	} {
		q, err := newQR(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readQR(q)
		if err != nil || got != text {
			t.Errorf("%q reads %q, %v; want the same, <nil>", text, got, err)
		}
	}
}

// blocksM lists the number of blocks of level M, their data bytes and their check bytes by
// version (table 9 of the standard).
var blocksM = [][3]int{1: {1, 16, 10}, 2: {1, 28, 16}, 3: {1, 44, 26}, 4: {2, 32, 18}, 5: {2, 43, 24}, 6: {4, 27, 16}}

// readQR decodes a QR code of level M up to version 6.
func readQR(q qrCode) (string, error) {
	m, err := modulesOf(q)
	if err != nil {
		return "", err
	}
	size := len(m)
	version := (size - 17) / 4
	if size != 17+4*version || version < 1 || version >= len(blocksM) {
		return "", fmt.Errorf("unexpected size: %d modules on a side", size)
	}
	format := 0
	for i := range 6 { // next to the finder pattern at the top left, starting with the highest bit
		format = format<<1 | bit(m[8][i])
	}
	for _, at := range [][2]int{{8, 7}, {8, 8}, {7, 8}, {5, 8}, {4, 8}, {3, 8}, {2, 8}, {1, 8}, {0, 8}} {
		format = format<<1 | bit(m[at[0]][at[1]])
	}
	format ^= 0x5412
	if level := format >> 13; level != 0 { // 00 is M
		return "", fmt.Errorf("error correction level %02b", level)
	}
	bytes := codewords(m, version, format>>10&7)
	n, data, check := blocksM[version][0], blocksM[version][1], blocksM[version][2]
	if len(bytes) < n*(data+check) {
		return "", fmt.Errorf("%d bytes, want %d", len(bytes), n*(data+check))
	}
	var all []byte
	for b := range n {
		var block []byte
		for i := range data + check {
			block = append(block, bytes[i*n+b])
		}
		for s := range check {
			if syndrome(block, s) != 0 {
				return "", fmt.Errorf("block %d has check errors", b)
			}
		}
		all = append(all, block[:data]...)
	}
	if mode := all[0] >> 4; mode != 4 { // byte mode
		return "", fmt.Errorf("mode %04b", mode)
	}
	length := int(all[0]&15)<<4 | int(all[1]>>4)
	var text strings.Builder
	for i := range length {
		text.WriteByte(all[i+1]<<4 | all[i+2]>>4)
	}
	return text.String(), nil
}

func bit(dark bool) int {
	if dark {
		return 1
	}
	return 0
}

// modulesOf returns the modules of the picture as [row][column], without the margin.
func modulesOf(q qrCode) ([][]bool, error) {
	var side int
	if _, err := fmt.Sscanf(q.Box, "0 0 %d", &side); err != nil {
		return nil, err
	}
	m := make([][]bool, side-8)
	for y := range m {
		m[y] = make([]bool, len(m))
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(q.Path, "z"), "z") {
		var x, y, width, back int
		if _, err := fmt.Sscanf(part, "M%d %dh%dv1h-%d", &x, &y, &width, &back); err != nil || width != back {
			return nil, fmt.Errorf("%q: %v", part, err)
		}
		for i := range width {
			row, column := y-4, x+i-4
			if row < 0 || row >= len(m) || column < 0 || column >= len(m) {
				return nil, fmt.Errorf("a dark module in the margin: %q", part)
			}
			m[row][column] = true
		}
	}
	return m, nil
}

// codewords returns the bytes in order. They are in pairs of columns, from right to left and
// alternately upward and downward, omitting the column of the timing pattern.
func codewords(m [][]bool, version, mask int) (list []byte) {
	size := len(m)
	b, n, up := 0, 0, true
	for right := size - 1; right > 0; right -= 2 {
		if right == 6 {
			right--
		}
		for i := range size {
			y := i
			if up {
				y = size - 1 - i
			}
			for _, x := range []int{right, right - 1} {
				if fixed(size, version, x, y) {
					continue
				}
				b = b<<1 | bit(m[y][x] != masked(mask, x, y))
				if n++; n == 8 {
					list = append(list, byte(b))
					b, n = 0, 0
				}
			}
		}
		up = !up
	}
	return list
}

// fixed reports whether a module belongs to a pattern or to the format information.
func fixed(size, version, x, y int) bool {
	near := func(center, at int) bool { return at >= center-2 && at <= center+2 }
	return x == 6 || y == 6 || x < 9 && y < 9 || x >= size-8 && y < 9 || x < 9 && y >= size-8 ||
		version > 1 && near(size-7, x) && near(size-7, y)
}

func masked(mask, x, y int) bool {
	return []bool{
		(x+y)%2 == 0, y%2 == 0, x%3 == 0, (x+y)%3 == 0, (y/2+x/3)%2 == 0,
		x*y%2+x*y%3 == 0, (x*y%2+x*y%3)%2 == 0, ((x+y)%2+x*y%3)%2 == 0,
	}[mask]
}

// syndrome evaluates a block as a polynomial at α to the power of s in the field of 256
// elements with x⁸ + x⁴ + x³ + x² + 1: the result is 0 for all s if the block is undamaged.
func syndrome(block []byte, s int) byte {
	times := func(a, b byte) (p byte) {
		for ; b > 0; b >>= 1 {
			if b&1 == 1 {
				p ^= a
			}
			carry := a >> 7
			if a <<= 1; carry == 1 {
				a ^= 0x1d
			}
		}
		return p
	}
	at := byte(1)
	for range s {
		at = times(at, 2)
	}
	var v byte
	for _, c := range block {
		v = times(v, at) ^ c
	}
	return v
}
