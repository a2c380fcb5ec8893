// Package languages embeds the texts of all languages. Each language is a folder named by its tag,
// such as en, with the program's words in words and the course in course. Package terms reads the
// words, and package lessons the course.
package languages

import (
	"embed"
	"fmt"
	"io/fs"
)

// English is the language in which the words and the course were written.
const English = "en"

// The two are separate so that a program without the course does not contain its text.
var (
	//go:embed */words
	words embed.FS

	//go:embed */course
	course embed.FS
)

// Tags returns the tags of all languages, [English] first. Each language has both folders.
func Tags() []string {
	folders, err := words.ReadDir(".")
	if err != nil {
		panic(err) // embedded
	}
	list := []string{English}
	for _, f := range folders {
		if f.Name() != English {
			list = append(list, f.Name())
		}
	}
	return list
}

// Words returns the folder with the words of a language. The error is [fs.ErrNotExist] if there is
// none.
func Words(tag string) (fs.FS, error) { return folder(words, tag, "words") }

// Course returns the folder with the course in a language. The error is [fs.ErrNotExist] if there
// is none.
func Course(tag string) (fs.FS, error) { return folder(course, tag, "course") }

func folder(files embed.FS, tag, name string) (fs.FS, error) {
	path := tag + "/" + name
	if _, err := fs.Stat(files, path); err != nil {
		return nil, fmt.Errorf("no %s in language %q: %w", name, tag, fs.ErrNotExist)
	}
	return fs.Sub(files, path)
}
