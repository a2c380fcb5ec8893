package site

// What the tests look into.
var (
	Zip       = zip
	WriteFile = write
)
