package terms

import _ "embed"

// The files of English are strings, since an [embed.FS] copies what is read from it: the program in a
// browser starts from an image of its memory, in which all texts would otherwise be twice.
var (
	//go:embed words/en/api.txt
	enApi string
	//go:embed words/en/class.txt
	enClass string
	//go:embed words/en/classroom.txt
	enClassroom string
	//go:embed words/en/cmd.txt
	enCmd string
	//go:embed words/en/coursework.txt
	enCoursework string
	//go:embed words/en/date.txt
	enDate string
	//go:embed words/en/drill.txt
	enDrill string
	//go:embed words/en/embed.txt
	enEmbed string
	//go:embed words/en/explain.txt
	enExplain string
	//go:embed words/en/first.txt
	enFirst string
	//go:embed words/en/js.txt
	enJs string
	//go:embed words/en/lab.txt
	enLab string
	//go:embed words/en/labs.txt
	enLabs string
	//go:embed words/en/learn.txt
	enLearn string
	//go:embed words/en/lessons.txt
	enLessons string
	//go:embed words/en/loop.txt
	enLoop string
	//go:embed words/en/model.txt
	enModel string
	//go:embed words/en/plot.txt
	enPlot string
	//go:embed words/en/practice.txt
	enPractice string
	//go:embed words/en/progress.txt
	enProgress string
	//go:embed words/en/rules.txt
	enRules string
	//go:embed words/en/run.txt
	enRun string
	//go:embed words/en/server.txt
	enServer string
	//go:embed words/en/shell.txt
	enShell string
	//go:embed words/en/stage.txt
	enStage string
	//go:embed words/en/store.txt
	enStore string
	//go:embed words/en/tab.txt
	enTab string
	//go:embed words/en/terms.txt
	enTerms string
)

var english = []string{
	enApi, enClass, enClassroom, enCmd, enCoursework, enDate, enDrill, enEmbed, enExplain, enFirst, enJs,
	enLab, enLabs, enLearn, enLessons, enLoop, enModel, enPlot, enPractice, enProgress, enRules, enRun,
	enServer, enShell, enStage, enStore, enTab, enTerms,
}
