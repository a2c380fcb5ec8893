package static

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// bundles is the virtual folder that contains the bundles.
const bundles = "bundle/"

// bundle returns the contents of the bundle with a name such as "bundle/shell+loop.js", which joins
// "js/shell.js" and "js/loop.js". No part may occur twice, so that no request can make a bundle
// larger than the embedded files.
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
			return nil, fmt.Errorf("%s: duplicate part %s: %w", name, stem, fs.ErrNotExist)
		}
		seen[stem] = true
		parts = append(parts, dot[1:]+"/"+stem+dot)
	}
	return join(parts)
}

// fontAddress matches a font's name in the styles.
var fontAddress = regexp.MustCompile(`url\("\.\./(fonts/[^"]+)"\)`)

var remark = regexp.MustCompile(`(?s)/\*.*?\*/`)

// plain returns a style sheet without its comments, which browsers do not need. No string in our
// styles looks like a comment.
func plain(css []byte) []byte { return remark.ReplaceAll(css, []byte(" ")) }

// styles joins style sheets. Font addresses are replaced with the hashed addresses that pages
// preload; with any other address, browsers would fetch each font twice.
func styles(names []string) ([]byte, error) {
	var out bytes.Buffer
	for _, name := range names {
		data, err := embedded.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out.Write(fontAddress.ReplaceAllFunc(plain(data), func(at []byte) []byte {
			return fmt.Appendf(nil, `url("%s")`, Asset(string(fontAddress.FindSubmatch(at)[1])))
		}))
	}
	return out.Bytes(), nil
}

// The forms of import and export that the scripts may use: named imports at the top, from files
// in the same folder, and exports of values that never change. All other forms are errors, so
// that joining stays simple.
var (
	importLine = regexp.MustCompile(`^import \{ (\w+(?:, \w+)*) \} from '\./([\w/.-]+\.js)';$`)
	exportDecl = regexp.MustCompile(`^export (?:(?:async )?function|class|const) ([\w$]+)`)
	exportList = regexp.MustCompile(`^export \{ ([\w$]+) \};$`)
	declared   = regexp.MustCompile(`(?m)^(?:(?:async )?function|class|const|var) ([\w$]+)`)
)

// scripts joins modules with all their imports, each once and after its imports. A module becomes a
// function's body, so that its names stay private, and its exports become that function's value.
// Unlike modules that a browser fetches separately, the joined modules are one program: if one
// throws while it starts, the later ones do not run.
func scripts(names []string) ([]byte, error) {
	j := newJoiner(embedded.ReadFile)
	for _, name := range names {
		if _, err := j.add(name); err != nil {
			return nil, err
		}
	}
	return j.out.Bytes(), nil
}

// joiner writes modules to out, one after another.
type joiner struct {
	out  bytes.Buffer
	done map[string]*module // by name; nil while a module is being added
	read func(name string) ([]byte, error)
}

// module is a script that joiner has written. id is the constant that holds its exports.
type module struct {
	id      string
	exports []string
}

func newJoiner(read func(name string) ([]byte, error)) *joiner {
	return &joiner{done: map[string]*module{}, read: read}
}

// add writes a module after its imports, unless it is already written.
func (j *joiner) add(name string) (*module, error) {
	if m, ok := j.done[name]; ok {
		if m == nil {
			return nil, fmt.Errorf("%s: import cycle", name)
		}
		return m, nil
	}
	j.done[name] = nil
	m := &module{id: fmt.Sprintf("module%d", len(j.done))}
	data, err := j.read(name)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	begun := false // the code has begun, so imports are no longer allowed
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		switch export := exportDecl.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "import") && !begun:
			if line, err = j.imported(name, line); err != nil {
				return nil, err
			}
		case export != nil:
			m.exports = append(m.exports, export[1])
			line = strings.TrimPrefix(line, "export ")
			begun = true
		case exportList.MatchString(line) && declares(data, exportList.FindStringSubmatch(line)[1]):
			m.exports = append(m.exports, exportList.FindStringSubmatch(line)[1])
			continue
		case strings.HasPrefix(line, "import"), strings.HasPrefix(line, "export"):
			return nil, fmt.Errorf("%s: unsupported form of import or export: %s", name, line)
		case strings.HasPrefix(strings.TrimSpace(line), "//") && !strings.Contains(name, "/vendor/"):
			continue // comments are only for readers of the source, and would be a tenth of a page's download
		case strings.Count(line, "`")%2 == 1 && !strings.Contains(name, "/vendor/"):
			return nil, fmt.Errorf("%s: unsupported multi-line string: %s", name, line)
		default:
			begun = begun || line != ""
		}
		if !strings.Contains(name, "/vendor/") {
			line = strings.TrimLeft(line, " ")
		}
		body.WriteString(line + "\n")
	}
	j.done[name] = m
	fmt.Fprintf(
		&j.out, "// %s\nconst %s = (() => {\n%sreturn { %s };\n})();\n", name, m.id, body.Bytes(), strings.Join(
			m.exports, ", ",
		),
	)
	return m, nil
}

// declares reports whether a module declares a name with a statement that sets its final value.
func declares(module []byte, name string) bool {
	return slices.ContainsFunc(
		declared.FindAllSubmatch(module, -1), func(m [][]byte) bool { return string(m[1]) == name },
	)
}

// imported adds the module that an import line in the script name refers to. It returns the line
// that replaces the import and declares the module's exports.
func (j *joiner) imported(name, line string) (string, error) {
	parts := importLine.FindStringSubmatch(line)
	if parts == nil {
		return "", fmt.Errorf("%s: unsupported form of import: %s", name, line)
	}
	from := path.Join(path.Dir(name), parts[2])
	m, err := j.add(from)
	if err != nil {
		return "", err
	}
	for wanted := range strings.SplitSeq(parts[1], ", ") {
		if !slices.Contains(m.exports, wanted) {
			return "", fmt.Errorf("%s: %s is not exported by %s", name, wanted, from)
		}
	}
	return fmt.Sprintf("const { %s } = %s;", parts[1], m.id), nil
}
