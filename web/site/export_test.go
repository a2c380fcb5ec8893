package site

// What the tests look into.
var (
	Zip       = zip
	WriteFile = write
)

// LessonsFile is the file of an instructor's lessons, packed, with its path and the worker
// that downloads it; "" where there are none.
func (o Options) LessonsFile() (path string, data []byte, script []byte, err error) {
	all, d := files{}, described{}
	if err := o.addLessons(all, &d); err != nil || d.Lessons == nil {
		return "", nil, nil, err
	}
	script, err = d.script()
	return d.Lessons.Path, all[d.Lessons.Path], script, err
}
