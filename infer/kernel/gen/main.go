// Command gen generates the assembly of package kernel from the templates in its folder. AVX-512
// and AVX2 run the same algorithm with registers of different lengths, and the number of
// accumulators depends on the number of columns (one to eight). So the templates contain the
// algorithms, and the generator lists the variants:
//
//	float.tmpl → float_amd64.s   panels of float32 or bfloat16 × 1 to 8 columns
//	int8.tmpl  → int8_amd64.s    panels of bytes × 1, 2, 4 columns
//
// Run it with "go generate ./infer/kernel". A test compares the files in the
// tree with its output.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"log"
	"math/bits"
	"os"
	"strings"
	"text/template"
)

//go:embed *.tmpl
var templates embed.FS

// panelRows is the number of rows that a panel interleaves, as in package kernel.
const panelRows = 32

// block is the number of values of a vector that share a scale, as in package kernel.
const block = 64

// variant is one function: a register length, a number of panels read together
// and a number of columns.
type variant struct {
	Name    string
	Reg     string // "Z" for 512 bits, "Y" for 256
	Lanes   int    // number of float32 values in a register
	Panels  int    // panels of 32 rows side by side
	Columns int    // vectors multiplied together
	Unroll  int    // steps along a row in one iteration of the loop (float only)
	Half    bool   // weights are bfloat16 (float only)
	Parts   int    // parts of a block, each with scales of its own (int8 only)
}

// Vectors returns the number of registers that hold the results of one column.
func (v variant) Vectors() int { return v.Panels * panelRows / v.Lanes }

// PerPanel returns the number of registers that hold one column of one panel.
func (v variant) PerPanel() int { return panelRows / v.Lanes }

// Bytes returns the length of a register in bytes.
func (v variant) Bytes() int { return 4 * v.Lanes }

// Acc returns the name of the accumulator for column c, vector r.
func (v variant) Acc(c, r int) string { return v.at(c*v.Vectors() + r) }

// Sum returns the name of the accumulator over all blocks for column c, vector r (int8 only).
func (v variant) Sum(c, r int) string { return v.at((v.Columns+c)*v.Vectors() + r) }

// Free returns the name of the i-th register that is free if each column and vector has n
// accumulators.
func (v variant) Free(n, i int) string { return v.at(n*v.Columns*v.Vectors() + i) }

func (v variant) at(i int) string {
	if last := map[string]int{"Y": 15, "Z": 31}[v.Reg]; i > last {
		panic(fmt.Sprintf("%s needs register %s%d", v.Name, v.Reg, i))
	}
	return fmt.Sprint(v.Reg, i)
}

// Panel returns the register that points to the weights for result vector r.
func (v variant) Panel(r int) string { return [...]string{"SI", "R11"}[r/v.PerPanel()] }

// StepBytes returns the length of a panel's step of 32 weights, in bytes.
func (v variant) StepBytes() int {
	if v.Half {
		return 2 * panelRows
	}
	return 4 * panelRows
}

// StepShift returns the base-2 logarithm of StepBytes.
func (v variant) StepShift() int { return bits.Len(uint(v.StepBytes())) - 1 }

// Loads returns the number of registers that one step of all panels fills with bfloat16 values.
func (v variant) Loads() int { return v.Vectors() / 2 }

// Low and High return the indices of the two results whose weights are in load j.
func (v variant) Low(j int) int  { return j/(v.PerPanel()/2)*v.PerPanel() + j%(v.PerPanel()/2) }
func (v variant) High(j int) int { return v.Low(j) + v.PerPanel()/2 }

// LoadOffset returns the offset of load j in its panel's step.
func (v variant) LoadOffset(j int) int { return j % (v.PerPanel() / 2) * v.Bytes() }

// Offset returns the offset of vector r in its panel's step of 32 weights.
func (v variant) Offset(r int) int { return r % v.PerPanel() * v.Bytes() }

// And returns the instruction for a bitwise AND.
func (v variant) And() string { return map[string]string{"Y": "VPAND", "Z": "VPANDD"}[v.Reg] }

// AllOnes returns an instruction that sets every bit of a register.
func (v variant) AllOnes(reg string) string {
	if v.Reg == "Y" {
		return fmt.Sprintf("VPCMPEQD %[1]s, %[1]s, %[1]s", reg)
	}
	return fmt.Sprintf("VPTERNLOGD $0xff, %[1]s, %[1]s, %[1]s", reg)
}

// X returns the address of a value of column c, disp bytes after the current value. BX points to
// column 0 and R10 to column 3. R8 holds the distance in bytes between columns, and R9 holds three
// times that distance.
func (v variant) X(c, disp int) string {
	at := [...]string{
		"(BX)", "(BX)(R8*1)", "(BX)(R8*2)", "(R10)", "(BX)(R8*4)", "(R10)(R8*2)", "(BX)(R9*2)", "(R10)(R8*4)",
	}[c]
	if disp == 0 {
		return at
	}
	return fmt.Sprint(disp, at)
}

// Block returns the number of values of x that share a scale.
func (v variant) Block() int { return block }

// BothBytes reports whether there are enough registers to sum the upper and the lower bytes of x
// together, so each weight is loaded once.
func (v variant) BothBytes() bool { return v.Reg == "Z" && v.Columns == 1 }

// PartColumns returns the number of weights of a row that share a scale.
func (v variant) PartColumns() int { return block / v.Parts }

// Groups returns the number of groups of four columns in a part.
func (v variant) Groups() int { return v.PartColumns() / 4 }

// HeadBytes returns the length of the heads of a part: for each row, a word with the scale and −Σ w, or
// if a block has two parts, a word with the scale, followed by a half word with −Σ w for each row.
func (v variant) HeadBytes() int {
	if v.Parts == 1 {
		return 4 * panelRows
	}
	return 6 * panelRows
}

// PartBytes returns the length of a part, in bytes.
func (v variant) PartBytes() int { return v.HeadBytes() + v.PartColumns()*panelRows }

// BlockBytes returns the length of a block of a panel, in bytes.
func (v variant) BlockBytes() int { return v.Parts * v.PartBytes() }

// Weights returns the offset of part p's g-th group of four columns in a block of a panel.
func (v variant) Weights(p, g int) int { return p*v.PartBytes() + v.HeadBytes() + g*4*panelRows }

// Sums returns the offset of the −Σ w for result vector r in part p, if a block has two parts.
func (v variant) Sums(p, r int) int { return p*v.PartBytes() + 4*panelRows + v.Offset(r)/2 }

// Value returns the offset of the upper (half 0) or lower (half 1) bytes of the values for part p's g-th
// group in a block of x.
func (v variant) Value(p, g, half int) int { return half*block + p*v.PartColumns() + 4*g }

// Scales returns the addresses of the scales of x in four columns.
func (v variant) Scales() []string {
	return []string{"(R12)", "(R12)(R13*1)", "(R12)(R13*2)", "(R12)(AX*1)"}
}

// step holds the values for the template of one step along the rows.
type step struct {
	Variant variant
	At      int // index of the step in the iteration
}

// Step returns step u of an iteration.
func (v variant) Step(u int) step { return step{v, u} }

func times(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

var files = map[string][]variant{
	"float": append(floats(false), floats(true)...),
	"int8":  append(bytes8("int8", 1), bytes8("level", 2)...),
}

func bytes8(name string, parts int) []variant {
	return []variant{
		{Name: name + "VNNIx1", Reg: "Z", Lanes: 16, Panels: 1, Columns: 1, Parts: parts},
		{Name: name + "VNNIx1pair", Reg: "Z", Lanes: 16, Panels: 2, Columns: 1, Parts: parts},
		{Name: name + "VNNIx2", Reg: "Z", Lanes: 16, Panels: 1, Columns: 2, Parts: parts},
		{Name: name + "VNNIx4", Reg: "Z", Lanes: 16, Panels: 1, Columns: 4, Parts: parts},
		{Name: name + "AVX2x1", Reg: "Y", Lanes: 8, Panels: 1, Columns: 1, Parts: parts},
	}
}

func floats(half bool) []variant {
	name := "float"
	if half {
		name = "bfloat"
	}
	all := []variant{
		{name + "AVX512x1", "Z", 16, 1, 1, 4, half, 0},
		{name + "AVX512x1pair", "Z", 16, 2, 1, 4, half, 0},
		{name + "AVX512x2", "Z", 16, 1, 2, 2, half, 0},
		{name + "AVX512x2pair", "Z", 16, 2, 2, 2, half, 0},
		{name + "AVX512x3", "Z", 16, 1, 3, 2, half, 0},
		{name + "AVX512x3pair", "Z", 16, 2, 3, 1, half, 0},
		{name + "AVX512x4", "Z", 16, 1, 4, 2, half, 0},
		{name + "AVX512x5", "Z", 16, 1, 5, 1, half, 0},
		{name + "AVX512x6", "Z", 16, 1, 6, 1, half, 0},
		{name + "AVX512x7", "Z", 16, 1, 7, 1, half, 0},
		{name + "AVX512x8", "Z", 16, 1, 8, 1, half, 0},
		{name + "AVX2x1", "Y", 8, 1, 1, 4, half, 0},
		{name + "AVX2x1pair", "Y", 8, 2, 1, 2, half, 0},
		{name + "AVX2x2", "Y", 8, 1, 2, 2, half, 0},
	}
	if !half { // bfloat16 needs three more registers than AVX2 has
		all = append(all, variant{name + "AVX2x3", "Y", 8, 1, 3, 1, half, 0})
	}
	return all
}

// Generate returns the text of one assembly file, "float" or "int8".
func Generate(name string) ([]byte, error) {
	t, err := template.New(name+".tmpl").Funcs(template.FuncMap{
		"times": times,
		"add":   func(a, b int) int { return a + b },
		"mul":   func(a, b int) int { return a * b },
		"div":   func(a, b int) int { return a / b },
	}).ParseFS(templates, name+".tmpl")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, files[name]); err != nil {
		return nil, err
	}
	var lines []string // without the lines that only control the template
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.TrimRight(line, " \t\n"))
	}
	return []byte(strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"), nil
}

func main() {
	for name := range files {
		text, err := Generate(name)
		if err == nil {
			err = os.WriteFile(name+"_amd64.s", text, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
