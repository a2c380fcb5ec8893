package grammar

// The building blocks of the formats' regular expressions: months with their days, leap years,
// dates and times, bytes of IP addresses, host names, and paths.
const (
	monthDay = `((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))`
	leapYear = `([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)`
	fullDate = `([0-9]{4}-` + monthDay + `|` + leapYear + `-02-29)`
	fullTime = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`
	octet    = `(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	label    = `[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}`
	hostname = label + `(\.` + label + `){0,2}`
	domain   = `(` + label + `\.){1,2}[a-z]{2,10}`
	email    = `[a-z0-9]{1,20}([._+-][a-z0-9]{1,20}){0,2}@` + domain
	path     = `(/[A-Za-z0-9._~-]{1,20}){0,4}/?`
	uri      = `https?://` + domain + path
	pointer  = `(/([A-Za-z0-9 ._-]|~[01]){0,20}){0,4}`
)

// formats maps each format to a regular expression for the texts to generate. It does not match
// everything that the standard allows, but every text that it matches is valid: dates and times of
// RFC 3339 without leap seconds, ASCII addresses, web URIs.
var formats = map[string]string{
	"date":      fullDate,
	"time":      fullTime,
	"date-time": fullDate + `T` + fullTime,
	"duration": `P([0-9]{1,4}[WD]|[0-9]{1,4}DT[0-9]{1,2}H|T[0-9]{1,4}(H([0-9]{1,2}M([0-9]{1,2}S)?)?|` +
		`M([0-9]{1,2}S)?|S))`,
	"uuid":                  `[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`,
	"ipv4":                  octet + `(\.` + octet + `){3}`,
	"ipv6":                  `([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}`,
	"hostname":              hostname,
	"idn-hostname":          hostname,
	"email":                 email,
	"idn-email":             email,
	"uri":                   uri,
	"iri":                   uri,
	"uri-template":          uri,
	"uri-reference":         uri + `|` + path,
	"iri-reference":         uri + `|` + path,
	"json-pointer":          pointer,
	"relative-json-pointer": `(0|[1-9][0-9]?)(#|` + pointer + `)`,
}

// published maps patterns with look-ahead to formats. Client libraries emit such a pattern next to
// the format, and every text generated for the format matches it.
var published = map[string]string{
	`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`: "email", // Zod
}

// hasFormat applies a format. Formats that are not in the standard are ignored as annotations.
func (s *schema) hasFormat(name string) error {
	text, ok := formats[name]
	switch {
	case name == "regex": // the standard's only unsupported format
		return refuse("%s has the format %q, which is not supported", s.at, name)
	case !ok:
		return nil
	}
	e, err := parseExpression("^(" + text + ")$")
	s.patterns = append(s.patterns, e)
	return err
}
