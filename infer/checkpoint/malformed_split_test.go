package checkpoint

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// splitGGUF returns the valid small model in three parts.
func splitGGUF() map[string]*ggufModel {
	whole := smallGGUF()
	parts := map[string]*ggufModel{}
	for i := range 3 {
		part := &ggufModel{version: 3}
		if i == 0 {
			part.pairs = slices.Clone(whole.pairs)
		}
		part.pairs = append(
			part.pairs, ggufPair{"split.no", 2, []byte{byte(i), 0}}, ggufPair{"split.count", 2, []byte{3, 0}},
			ggufPair{"split.tensors.count", 5, u32(11)},
		)
		for at, t := range whole.tensors {
			if at%3 != i {
				continue
			}
			end := uint64(len(whole.data))
			if at+1 < len(whole.tensors) {
				end = whole.tensors[at+1].offset
			}
			data := whole.data[t.offset:end]
			t.offset = uint64(len(part.data))
			part.tensors, part.data = append(part.tensors, t), append(part.data, data...)
		}
		parts[partName("m", i+1, 3)] = part
	}
	return parts
}

// TestSplitGGUF: a model in parts opens completely, no matter which part is given.
func TestSplitGGUF(t *testing.T) {
	files := map[string][]byte{}
	for name, part := range splitGGUF() {
		files[name] = part.bytes()
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d, err := Files{}.describeFile(asFS(files), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d.Name != "m" || len(d.Files) != 3 || len(d.Tensors) != 11 || len(d.Checkpoint.Types()) != 1 {
			t.Errorf(
				"%s: got %q, %d files, %d tensors; want d.Name = %q, len(d.Files) = 3, len(d.Tensors) = "+
					"11, len(d.Checkpoint.Types()) = 1",
				name, d.Name, len(d.Files), len(d.Tensors), "m",
			)
		}
		if err := d.Checkpoint.Verify(); err != nil {
			t.Error(err)
		}
		d.Checkpoint.Close()
	}
}

func asFS(files map[string][]byte) fs.FS {
	folder := fstest.MapFS{}
	for name, data := range files {
		folder[name] = &fstest.MapFile{Data: data}
	}
	return folder
}

// malformedSplits lists changes to the parts of a valid model, each with the message that rejects
// it.
var malformedSplits = []struct {
	name   string
	change func(parts map[string]*ggufModel, files map[string][]byte)
	want   string
}{
	{"second part missing", without(2), "model folder has no m-00002-of-00003.gguf, part 2 of the 3 of this model"},
	{"first part missing", without(1), "model folder has no m-00001-of-00003.gguf"},
	{"two parts missing", without(1, 2), "2 of the 3 parts are missing"},
	{
		"parts in the wrong order", setSplit(2, ggufPair{"split.no", 2, []byte{2, 0}}),
		"m-00002-of-00003.gguf: split.no is 2 and split.count 3, want 1 and 3",
	},
	{
		"another count", setSplit(3, ggufPair{"split.count", 2, []byte{4, 0}}),
		"m-00003-of-00003.gguf: split.no is 2 and split.count 4",
	},
	{"count a text", setSplit(3, textPair("split.count", "3")), "split.count 3, want 2 and 3"},
	{"no numbers", func(parts map[string]*ggufModel, files map[string][]byte) {
		parts[partName("m", 2, 3)].pairs = nil
	}, "split.no is missing"},
	{
		"another number of tensors", setSplit(1, ggufPair{"split.tensors.count", 5, u32(12)}),
		"split.tensors.count is 12, but the parts contain 11",
	},
	{"a tensor in two parts", func(parts map[string]*ggufModel, _ map[string][]byte) {
		parts[partName("m", 2, 3)].tensors[0].name = parts[partName("m", 1, 3)].tensors[0].name
	}, `m-00002-of-00003.gguf: duplicate tensor "token_embd.weight"; another part also contains it`},
	{"a part cut short", func(_ map[string]*ggufModel, files map[string][]byte) {
		name := partName("m", 3, 3)
		files[name] = files[name][:max(0, len(files[name])-40)]
	}, "m-00003-of-00003.gguf: tensor "},
	{"a part of nothing", func(_ map[string]*ggufModel, files map[string][]byte) {
		files[partName("m", 2, 3)] = nil
	}, "m-00002-of-00003.gguf: byte 0: unexpected end of file"},
	{"a part that is a pointer", func(_ map[string]*ggufModel, files map[string][]byte) {
		files[partName("m", 2, 3)] = []byte(lfsPointer)
	}, "m-00002-of-00003.gguf: is a Git LFS pointer"},
}

func without(numbers ...int) func(map[string]*ggufModel, map[string][]byte) {
	return func(_ map[string]*ggufModel, files map[string][]byte) {
		for _, n := range numbers {
			delete(files, partName("m", n, 3))
		}
	}
}

func setSplit(n int, p ggufPair) func(map[string]*ggufModel, map[string][]byte) {
	return func(parts map[string]*ggufModel, _ map[string][]byte) { parts[partName("m", n, 3)].set(p) }
}

// changedSplit returns a model in three files after a change to their contents and to
// the files themselves.
func changedSplit(change func(parts map[string]*ggufModel, files map[string][]byte)) map[string][]byte {
	parts, files := splitGGUF(), map[string][]byte{}
	change(parts, map[string][]byte{})
	for name, part := range parts {
		files[name] = part.bytes()
	}
	change(splitGGUF(), files)
	return files
}

func TestMalformedSplits(t *testing.T) {
	for _, test := range malformedSplits {
		files := changedSplit(test.change)
		refuse(t, 20_000, test.name, "", test.want, func() error {
			d, err := Files{}.describeFile(asFS(files), partName("m", 3, 3))
			for _, reason := range Reasons(err) {
				if d.Checkpoint == nil && strings.Contains(reason, test.want) {
					return fmt.Errorf("%s", reason)
				}
			}
			return err
		})
	}
	alone := smallGGUF()
	alone.set(wholePair("split.count", 3))
	refuse(t, 20_000, "renamed part", "renamed.gguf: ", "is one of the 3 parts of a model", func() error {
		return openMemory("renamed.gguf", map[string][]byte{"renamed.gguf": alone.bytes()})
	})
	name := partName("m", 1, 99999)
	refuse(t, 20_000, "many parts", name, "one of 99999 parts; the limit is 1024", func() error {
		return openMemory(name, map[string][]byte{name: smallGGUF().bytes()})
	})
}
