package progress

import "unicode"

// letters are characters of many scripts, none a control character.
var letters = []*unicode.RangeTable{unicode.Letter, unicode.Punct, unicode.Symbol, unicode.Zs}
