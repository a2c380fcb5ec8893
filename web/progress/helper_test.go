package progress

import "unicode"

// letters contains characters of many scripts, but no control characters.
var letters = []*unicode.RangeTable{unicode.Letter, unicode.Punct, unicode.Symbol, unicode.Zs}
