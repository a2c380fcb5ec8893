package static

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// bundles is the folder that the bundles seem to be in.
const bundles = "bundle/"

// bundle makes the file of a name such as "bundle/shell+loop.js", of
// "js/shell.js" and "js/loop.js". No part may come twice: a bundle is never
// larger than what is embedded, whoever asks for it.
func bundle(name string) ([]byte, error) {
	base := strings.TrimPrefix(name, bundles)
	dot := path.Ext(base)
	join := map[string]func([]string) ([]byte, error){".css": styles, ".js": scripts}[dot]
	if join == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	seen := map[string]bool{}
	var parts []string
	for stem := range strings.SplitSeq(strings.TrimSuffix(base, dot), "+") {
		if seen[stem] {
			return nil, fmt.Errorf("%s: %s twice: %w", name, stem, fs.ErrNotExist)
		}
		seen[stem] = true
		parts = append(parts, dot[1:]+"/"+stem+dot)
	}
	return join(parts)
}

// fontAddress is how the styles name a font.
var fontAddress = regexp.MustCompile(`url\("\.\./(fonts/[^"]+)"\)`)

// styles joins style sheets. Fonts get the addresses that pages preload, with
// their hashes: under two addresses a browser would fetch them twice.
func styles(names []string) ([]byte, error) {
	var out bytes.Buffer
	for _, name := range names {
		data, err := embedded.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out.Write(fontAddress.ReplaceAllFunc(data, func(at []byte) []byte {
			return fmt.Appendf(nil, `url("%s")`, Asset(string(fontAddress.FindSubmatch(at)[1])))
		}))
	}
	return out.Bytes(), nil
}

// The forms of import and export that the scripts may use: named ones, of a
// file beside. Everything else is refused, so that joining stays this simple.
var (
	importLine = regexp.MustCompile(`^import (\{ \w+(?:, \w+)* \}) from '\./([\w/.-]+\.js)';$`)
	exportDecl = regexp.MustCompile(`^export ((?:async )?function|class|const) (\w+)`)
	exportList = regexp.MustCompile(`^export \{ (\w+) \};$`)
)

// scripts joins modules with all that they import, each once and after what it
// needs. A module becomes a function's body, so that its names stay its own,
// and what it exports becomes that function's value.
func scripts(names []string) ([]byte, error) {
	j := joiner{ids: map[string]string{}, read: embedded.ReadFile}
	for _, name := range names {
		if _, err := j.add(name); err != nil {
			return nil, err
		}
	}
	return j.out.Bytes(), nil
}

type joiner struct {
	out  bytes.Buffer
	ids  map[string]string // of a module's name: "" while it is being read
	read func(name string) ([]byte, error)
}

// add writes a module, what it imports first, and returns the name of the
// constant that holds its exports.
func (j *joiner) add(name string) (string, error) {
	if id, ok := j.ids[name]; ok {
		if id == "" {
			return "", fmt.Errorf("%s: imports itself by way of others", name)
		}
		return id, nil
	}
	j.ids[name] = ""
	id := fmt.Sprintf("module%d", len(j.ids))
	data, err := j.read(name)
	if err != nil {
		return "", err
	}
	var body bytes.Buffer
	var exports []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "import"):
			m := importLine.FindStringSubmatch(line)
			if m == nil {
				return "", fmt.Errorf("%s: cannot be joined with others: %s", name, line)
			}
			from, err := j.add(path.Join(path.Dir(name), m[2]))
			if err != nil {
				return "", err
			}
			line = fmt.Sprintf("const %s = %s;", m[1], from)
		case exportDecl.MatchString(line):
			exports = append(exports, exportDecl.FindStringSubmatch(line)[2])
			line = strings.TrimPrefix(line, "export ")
		case exportList.MatchString(line):
			exports = append(exports, exportList.FindStringSubmatch(line)[1])
			continue
		case strings.HasPrefix(line, "export"):
			return "", fmt.Errorf("%s: cannot be joined with others: %s", name, line)
		}
		body.WriteString(line + "\n")
	}
	j.ids[name] = id
	fmt.Fprintf(&j.out, "// %s\nconst %s = (() => {\n%sreturn { %s };\n})();\n", name, id, body.Bytes(), strings.Join(exports, ", "))
	return id, nil
}
