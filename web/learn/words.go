package learn

import (
	"slices"

	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/stage"
)

// The styles and scripts of this package's pages.
var (
	homeStyles  = append(slices.Clip(coursework.Styles), "css/map.css", "css/home.css")
	homeScripts = []string{"js/home.js"} // it loads learn.js
	sheetStyles = append(slices.Clip(coursework.Styles), "css/print.css")

	// lessonStyles and lessonScripts are for pages with experiments.
	lessonStyles  = slices.Concat(coursework.Styles, widgetStyles, pictureStyles)
	lessonScripts = slices.Concat(coursework.Scripts, widgetScripts, []string{"js/picture.js"})
	pictureStyles = []string{"css/map.css", "css/stage.css", "css/picture.css"}
)

// bdi is an element around a text whose direction can differ from the sentence's.
var bdi = stage.Element{Name: "bdi"}

// smallPrint is an element around a remark about a number.
var smallPrint = stage.Element{Name: "small"}
