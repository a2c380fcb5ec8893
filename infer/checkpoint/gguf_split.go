package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// A large GGUF model may be split into several files, NAME-00001-of-00003.gguf and so on, for
// example with llama.cpp's gguf-split. Each part is a GGUF file with some of the tensors, and the
// first has the metadata. All parts have these keys:
//
//	split.no             which part, from 0
//	split.count          of how many
//	split.tensors.count  tensors in all parts together

var splitPattern = regexp.MustCompile(`^(.+)-(\d{5})-of-(\d{5})\.gguf$`)

// splitName splits the name of a part into its components. Parts are numbered from 1.
func splitName(file string) (stem string, part, of int, ok bool) {
	m := splitPattern.FindStringSubmatch(file)
	if m == nil {
		return "", 0, 0, false
	}
	part, _ = strconv.Atoi(m[2])
	of, _ = strconv.Atoi(m[3])
	return m[1], part, of, part >= 1 && part <= of
}

func partName(stem string, part, of int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.gguf", stem, part, of)
}

// describeGGUF describes a GGUF file that has already been opened as w. If the model is split, it
// also describes the other parts and adds them to w.
func describeGGUF(fsys fs.FS, w *weights, file string) (*Description, error) {
	name := strings.TrimSuffix(file, ".gguf")
	stem, _, of, split := splitName(file)
	if !split {
		d := &Description{Name: name, Format: "GGUF"}
		g, err := readGGUF(w, w.size)
		if err == nil {
			d, err = g.describe(w, name)
			if count, _ := g.pairs["split.count"].(float64); count > 1 {
				d.Checkpoint = nil
				err = fmt.Errorf(
					"is one of the %v parts of a model, which must be named %s and so on", count,
					partName("NAME", 1, 3),
				)
			}
		}
		if err != nil {
			err = within(file, err)
		}
		d.weighGGUF(w, g)
		return d, err
	}
	if of > maxShards {
		return &Description{Name: stem, Format: "GGUF"}, fmt.Errorf(
			"%s: one of %d parts; the limit is %d", file, of, maxShards,
		)
	}
	g, faults := readParts(fsys, w, file, stem, of)
	d := &Description{Name: stem, Format: "GGUF"}
	if g != nil {
		var err error
		if d, err = g.describe(w, stem); err != nil {
			faults = collect(faults, within(partName(stem, 1, of), err))
		}
	}
	d.weighGGUF(w, g)
	if faults != nil {
		d.Checkpoint = nil
	}
	return d, faults
}

func (d *Description) weighGGUF(w *weights, g *gguf) {
	if g != nil {
		d.weigh(w, g.tensors)
	}
}

// readParts reads the headers of all parts. One of the parts, file, is already open as w. readParts
// combines the metadata of the first part with the tensors of all parts. If the first part is
// missing, it returns only the error.
func readParts(fsys fs.FS, w *weights, file, stem string, of int) (all *gguf, faults error) {
	opened := w.parts[0]
	w.parts, w.size = nil, 0
	missing := 0
	for i := range of {
		name := partName(stem, i+1, of)
		p, err := opened, error(nil)
		if name != file {
			p, err = openPart(fsys, name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			if missing++; missing == 1 {
				faults = collect(faults, missingFile{name, fmt.Sprintf(", part %d of the %d of this model", i+1, of)})
			}
			continue
		} else if err != nil {
			faults = collect(faults, err)
			continue
		}
		w.add(p)
		base := w.parts[len(w.parts)-1].base
		g, err := readGGUF(p, p.size)
		if err == nil {
			err = g.problems
			if number, count := g.pairs["split.no"], g.pairs["split.count"]; number != float64(i) ||
				count != float64(of) {
				err = collect(
					err, fmt.Errorf(
						"split.no is %s and split.count %s, want %d and %d", found(number), found(count), i, of,
					),
				)
			}
		}
		if err != nil {
			faults = collect(faults, within(name, err))
		}
		if g == nil {
			continue
		}
		g.problems = nil
		if i == 0 {
			all = g
			continue // the first file's bytes begin at 0
		}
		if all != nil {
			faults = collect(faults, all.join(g, base, name))
		}
	}
	if missing > 1 {
		faults = collect(faults, fmt.Errorf("%d of the %d parts are missing", missing, of))
	}
	if all == nil || faults != nil {
		if all != nil {
			all.incomplete = true
		}
		return all, faults
	}
	if want, ok := all.pairs["split.tensors.count"].(float64); ok && int(want) != len(all.tensors) {
		faults = fmt.Errorf(
			"%s: split.tensors.count is %v, but the parts contain %d tensors",
			partName(stem, 1, of), want, len(all.tensors),
		)
	}
	return all, faults
}

// join adds the tensors of a later part, which begins base bytes after the start of the first part.
func (g *gguf) join(part *gguf, base int64, name string) (faults error) {
	for tensor, t := range part.tensors {
		if _, taken := g.tensors[tensor]; taken {
			faults = collect(
				faults, fmt.Errorf("%s: duplicate tensor %s; another part also contains it", name, quote(tensor)),
			)
			continue
		}
		if len(g.tensors) == maxTensors {
			return collect(faults, fmt.Errorf("%s: the parts contain more than %d tensors", name, maxTensors))
		}
		t.offset += base
		g.tensors[tensor] = t
	}
	return faults
}

// found formats the value of a key for an error.
func found(value any) string {
	if value == nil {
		return "missing"
	}
	return fmt.Sprint(value)
}
