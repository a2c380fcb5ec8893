package shell

import "testing"

// TestBackStaysOnThisServer: a form returns only to pages of this server.
func TestBackStaysOnThisServer(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/loop":                     "/loop",
		"/loop?run=7&log=ab-c":      "/loop?run=7&log=ab-c",
		"/class/ABCDEF?at=2.3#x":    "/class/ABCDEF?at=2.3#x",
		"/learn/what is it":         "/learn/what%20is%20it",
		"":                          "",
		"loop":                      "",
		"//evil.example/loop":       "",
		"///evil.example":           "",
		`/\evil.example`:            "",
		"/%5Cevil.example":          "",
		"/%2Fevil.example":          "",
		"https://evil.example/loop": "",
		"javascript:alert(1)":       "",
		"http:/loop":                "",
		"/%zz":                      "",
		"/%0d%0aSet-Cookie: a=b":    "",
	} {
		if got := Back(to); got != want {
			t.Errorf("Back(%q) is %q, want %q", to, got, want)
		}
	}
}
