package plots

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// light holds the values of the page's custom properties in the light theme. A test compares them
// with the style sheet.
var light = map[string]string{
	"--ink-2":  "#454a54",
	"--ink-3":  "#646973",
	"--line":   "#dfdfd9",
	"--edge":   "#85857e",
	"--accent": "#1d4fd0",
	"--other":  "#5a5f69",

	"--ink":        "#16181d",
	"--other-fill": "#d5d5ce",
	"--p-3":        "#c3d3f8",
	"--surface":    "#ffffff",
	"--sunken":     "#ecece7",
	"--bad":        "#b3261e",
}

const (
	paper = "#ffffff" // --surface
	sans  = `Inter, system-ui, "Segoe UI", Roboto, sans-serif`
	scale = 3 // CSS pixels in the file per pixel on the page; a file is larger, since it is viewed by itself
)

var (
	property = regexp.MustCompile(`var\((--[a-z0-9-]+)\)`)
	viewBox  = regexp.MustCompile(`^<svg class="plot" viewBox="0 0 ([0-9]+(?:\.[0-9]+)?) ([0-9]+(?:\.[0-9]+)?)"`)
)

// Standalone converts a chart's SVG, which is meant for a page, into a separate file. It sets the
// light theme's colors, a white background, a size, a font, and the namespace that a file must
// declare. It returns an error if svg is not one of this package's charts.
func Standalone(svg string) (string, error) { return standalone(svg, sans) }

// standalone is like [Standalone], but uses the given font family.
func standalone(svg, family string) (string, error) {
	open := viewBox.FindStringSubmatch(svg)
	if open == nil {
		return "", fmt.Errorf("convert chart to a file: the SVG is not one of this package's charts")
	}
	width, _ := strconv.ParseFloat(open[1], 64) // the pattern matches only numbers
	height, _ := strconv.ParseFloat(open[2], 64)
	var unknown string
	svg = property.ReplaceAllStringFunc(svg, func(v string) string {
		name := property.FindStringSubmatch(v)[1]
		color, ok := light[name]
		if !ok {
			unknown = name
		}
		return color
	})
	if unknown != "" {
		return "", fmt.Errorf("convert chart to a file: no color for %s", unknown)
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[3]s %[4]s" `+
		`font-family="%[5]s"`,
		width*scale, height*scale, open[1], open[2], strings.ReplaceAll(family, `"`, "'"))
	svg = head + svg[len(open[0]):]
	end := strings.Index(svg, "</desc>") + len("</desc>")
	ground := fmt.Sprintf(`<rect width="%s" height="%s" fill="%s"/>`, open[1], open[2], paper)
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + svg[:end] + ground + svg[end:] + "\n", nil
}
