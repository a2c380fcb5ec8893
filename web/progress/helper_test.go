package progress

import "unicode"

// letters are characters of many scripts, without control characters.
var letters = []*unicode.RangeTable{unicode.Letter, unicode.Punct, unicode.Symbol, unicode.Zs}
