package checkpoint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokenbytoken/viz/infer/files"
)

// Hugging Face's cache keeps each model in a folder, with links to files named
// by their hashes:
//
//	models--ORG--NAME/refs/main                       the revision of that branch
//	models--ORG--NAME/snapshots/REVISION/config.json  → ../../blobs/HASH
const (
	cacheFolder = "models--"
	snapshots   = "snapshots"
)

// listed is the maximum number of file or folder names in a message.
const listed = 5

// enter finds the model in a folder. If the folder has Hugging Face's layout, enter returns the
// folder itself; if it is a model's folder in the cache, a snapshot; if it contains one model file,
// the folder and the file's name.
func enter(path string) (folder, file string, err error) {
	if has(path, snapshots) && !has(path, configFile) {
		path = filepath.Join(path, snapshots)
		if main, err := readFile(files.Folder(filepath.Dir(path)), "refs/main", 1<<10); err == nil {
			if revision := strings.TrimSpace(string(main)); filepath.IsLocal(revision) && has(path, revision) {
				path = filepath.Join(path, revision)
			}
		}
	}
	if filepath.Base(path) == snapshots {
		if path, err = onlyFolder(path); err != nil {
			return "", "", err
		}
	}
	names, err := entries(path)
	if err != nil {
		return "", "", err
	}
	file, err = onlyModel(names)
	return path, file, err
}

// onlyModel returns the only model file among the names in a folder, or "" if there is none.
func onlyModel(names []string) (string, error) {
	models := modelFiles(names)
	if len(models) > 1 {
		return "", fmt.Errorf("contains %d models; specify one of them: %s", len(models), several(models))
	}
	if len(models) == 0 {
		return "", nil
	}
	return models[0], nil
}

// has reports whether a folder has an entry with that name.
func has(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// onlyFolder returns the only subfolder of a folder.
func onlyFolder(path string) (string, error) {
	names, err := entries(path)
	if err != nil {
		return "", err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Stat(filepath.Join(path, name))
		return err != nil || !info.IsDir()
	})
	if len(names) != 1 {
		return "", fmt.Errorf("contains %d snapshots of the model, but refs/main matches none of them; specify one of "+
			"the folders in %s: %s",
			len(names), snapshots, several(names))
	}
	return filepath.Join(path, names[0]), nil
}

// maxEntries is the maximum number of entries to read from a folder.
const maxEntries = 1 << 14

// entries lists the names in a folder, sorted, up to maxEntries of them.
func entries(path string) ([]string, error) {
	names, err := files.Names(path, maxEntries)
	slices.Sort(names)
	return names, err
}

// modelFiles returns the names of the files that are complete models: GGUF files (for a split
// model, only the first part) and llama2.c files. A folder in Hugging Face's layout has none.
func modelFiles(names []string) []string {
	var models []string
	vocabulary := slices.Contains(names, llama2cTokens)
	for _, name := range names {
		if strings.HasSuffix(name, ".safetensors") || name == indexFile {
			return nil
		}
		switch filepath.Ext(name) {
		case ".gguf":
			if _, part, _, split := splitName(name); strings.HasPrefix(name, "mmproj") || split && part > 1 {
				continue // the vision part of a language model, or a later part of a split file
			}
		case ".bin":
			if !vocabulary || name == llama2cTokens {
				continue
			}
		default:
			continue
		}
		models = append(models, name)
	}
	return models
}

// several joins several names into one string for a message.
func several(names []string) string {
	shown := make([]string, 0, listed)
	for _, name := range names[:min(listed, len(names))] {
		shown = append(shown, quote(name))
	}
	text := strings.Join(shown, ", ")
	if len(names) > listed {
		text += ", …"
	}
	return text
}

// folderName returns the name of the model in a folder: the folder's own name or, in Hugging Face's
// cache, the model's name instead of the revision.
func folderName(path string) string {
	if above := filepath.Dir(path); filepath.Base(above) == snapshots {
		if name, cached := strings.CutPrefix(filepath.Base(filepath.Dir(above)), cacheFolder); cached {
			if _, model, found := strings.Cut(name, "--"); found {
				return model
			}
			return name
		}
	}
	return filepath.Base(path)
}

// adapterFiles are the files that PEFT writes for an adapter, such as a LoRA, which changes the
// weights of another model.
var adapterFiles = []string{"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"}

// folderWarnings returns warnings about files in a folder that are not part of the model.
func folderWarnings(fsys fs.FS) []string {
	for _, name := range adapterFiles {
		if _, err := fs.Stat(fsys, name); err == nil {
			return []string{"The folder contains an adapter (" + name + "), which is ignored: only the weights of " +
				"the model next to it are used. To merge the two into one model, use PEFT's merge_and_unload."}
		}
	}
	return nil
}

// otherWeights looks for a folder's weights under names other than model.safetensors. It returns
// the only safetensors file, or an error that describes what the folder has instead.
func otherWeights(fsys fs.FS) (string, error) {
	list, _ := fs.ReadDir(fsys, ".")
	var tensors []string
	missing := missingFile{name: weightsFile}
	for _, e := range list[:min(len(list), maxEntries)] {
		switch name := e.Name(); {
		case slices.Contains(adapterFiles[1:], name):
			missing.hint = "; " + name + " is an adapter for another model, which is not supported"
		case strings.HasSuffix(name, ".safetensors"):
			tensors = append(tensors, name)
		case strings.HasPrefix(name, "pytorch_model") &&
			filepath.Ext(name) == ".bin", filepath.Ext(name) == ".pth", filepath.Ext(name) == ".pt":
			missing.hint = "; " + quote(name) + " is " + pickled
		case missing.hint == "" && (filepath.Ext(name) == ".h5" || filepath.Ext(name) == ".msgpack" ||
			filepath.Ext(name) == ".onnx"):
			missing.hint = "; " + quote(name) + " is in an unsupported format"
		}
	}
	switch len(tensors) {
	case 0:
		return "", missing
	case 1:
		return tensors[0], nil
	}
	return "", missingFile{weightsFile, ", nor " + indexFile + ", but " + several(tensors)}
}
