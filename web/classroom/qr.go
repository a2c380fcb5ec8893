package classroom

import (
	"fmt"
	"strconv"
	"strings"

	"rsc.io/qr"
)

// quiet is the width of the light margin that QR code readers need, in modules.
const quiet = 4

// qrCode is a QR code for an SVG image: one path over a light square that includes the
// margin, in units of modules.
type qrCode struct {
	Box  string // the viewBox
	Side string // its width and height
	Path string // a rectangle for each run of dark modules in a row
	Text string // the encoded text
}

// newQR encodes text, usually an address, as a QR code. Its error correction level M
// tolerates a smudge or a reflection on a projected slide.
func newQR(text string) (qrCode, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return qrCode{}, fmt.Errorf("classroom: encode %q as a QR code: %w", text, err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			run := x
			for run < code.Size && code.Black(run, y) {
				run++
			}
			if run > x {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quiet, y+quiet, run-x, run-x)
				x = run
			}
		}
	}
	side := strconv.Itoa(code.Size + 2*quiet)
	return qrCode{"0 0 " + side + " " + side, side, path.String(), text}, nil
}
