package languages

import (
	"io/fs"
	"testing"
)

// TestLanguagesHaveBothFolders: every language has the words and the course, with the same files as
// English.
func TestLanguagesHaveBothFolders(t *testing.T) {
	files := func(of func(string) (fs.FS, error), tag string) map[string]bool {
		folder, err := of(tag)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		err = fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
			names[path] = true
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for name, of := range map[string]func(string) (fs.FS, error){"words": Words, "course": Course} {
		want := files(of, English)
		if len(want) < 20 {
			t.Errorf("the English %s has only %d files", name, len(want))
		}
		for _, tag := range Tags() {
			got := files(of, tag)
			for path := range want {
				if !got[path] {
					t.Errorf("%s/%s lacks the file %s", tag, name, path)
				}
			}
		}
		if _, err := of("xx"); err == nil {
			t.Errorf("%s in an unknown language: got no error, want one", name)
		}
	}
	if course, err := fs.ReadDir(course, "."); err != nil || len(course) != len(Tags()) {
		t.Errorf("%d languages have a course, %v; want %d, <nil>", len(course), err, len(Tags()))
	}
}
