package learn

import (
	"slices"

	"github.com/tokenbytoken/viz/web/coursework"
	"github.com/tokenbytoken/viz/web/stage"
)

// styles and scripts of the pages of this room.
var (
	homeStyles  = append(slices.Clip(coursework.Styles), "css/map.css", "css/home.css")
	homeScripts = []string{"js/home.js"} // which loads learn.js
	sheetStyles = append(slices.Clip(coursework.Styles), "css/print.css")

	// lessonStyles and lessonScripts are those of pages with experiments in them.
	lessonStyles  = slices.Concat(coursework.Styles, widgetStyles, pictureStyles)
	lessonScripts = slices.Concat(coursework.Scripts, widgetScripts, []string{"js/picture.js"})
	pictureStyles = []string{"css/map.css", "css/stage.css", "css/picture.css"}
)

// lang is the language of these pages.
var lang = stage.English
