package evidence

var months = map[string]string{
	"january": "01", "february": "02", "march": "03", "april": "04", "may": "05", "june": "06",
	"july": "07", "august": "08", "september": "09", "october": "10", "november": "11", "december": "12",
	"jan": "01", "feb": "02", "mar": "03", "apr": "04", "jun": "06", "jul": "07", "aug": "08",
	"sep": "09", "sept": "09", "oct": "10", "nov": "11", "dec": "12",
}

var spelled = map[string]int{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
	"fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}

// scales are how many zeros a word adds. One-letter forms only touch the
// number ($3k, 5M is left alone: it may be metres or million).
var scales = map[string]int{
	"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12,
	"k": 3, "mn": 6, "bn": 9,
}

// currencies, longest sign first where one ends in another.
var currencies = []struct {
	sign, unit string
	code       bool // letters: must not end a longer word
}{
	{"US$", "$", true}, {"$", "$", false}, {"€", "€", false}, {"£", "£", false}, {"¥", "¥", false},
	{"USD", "$", true}, {"EUR", "€", true}, {"GBP", "£", true}, {"CHF", "chf", true},
}

func currencyCode(s string) bool {
	for _, c := range currencies {
		if c.code && c.sign == s {
			return true
		}
	}
	return false
}

// units maps spellings of units to one.
var units = unitTable(map[string][]string{
	"%": {"percent", "pct"}, "$": {"dollar", "dollars", "usd"}, "€": {"euro", "euros", "eur"}, "£": {"gbp"},
	"cent": {"cent", "cents"}, "lb": {"pound", "pounds", "lb", "lbs"}, "oz": {"oz", "ounce", "ounces"},
	"mg": {"mg", "milligram", "milligrams"}, "g": {"g", "gram", "grams", "gm"}, "kg": {"kg", "kgs", "kilogram", "kilograms", "kilo", "kilos"},
	"µg": {"µg", "μg", "mcg", "ug", "microgram", "micrograms"}, "ng": {"ng", "nanogram", "nanograms"},
	"t": {"ton", "tons", "tonne", "tonnes"}, "ml": {"ml", "millilitre", "millilitres", "milliliter", "milliliters"},
	"l": {"l", "litre", "litres", "liter", "liters"}, "dl": {"dl"}, "gal": {"gallon", "gallons"},
	"mmol": {"mmol"}, "mol": {"mol"}, "mmhg": {"mmhg"}, "iu": {"iu"}, "unit": {"unit", "units"}, "bpm": {"bpm"},
	"tablet": {"tablet", "tablets"}, "dose": {"dose", "doses"}, "kcal": {"kcal", "calories"}, "ppm": {"ppm"},
	"nm": {"nm"}, "µm": {"µm", "μm"}, "mm": {"mm", "millimetre", "millimetres", "millimeter", "millimeters"},
	"cm": {"cm", "centimetre", "centimetres", "centimeter", "centimeters"}, "m": {"m", "metre", "metres", "meter", "meters"},
	"km": {"km", "kilometre", "kilometres", "kilometer", "kilometers"}, "mile": {"mile", "miles"},
	"ft": {"ft", "foot", "feet"}, "inch": {"inch", "inches"}, "yd": {"yard", "yards"}, "acre": {"acre", "acres"},
	"ha": {"hectare", "hectares", "ha"}, "mph": {"mph"}, "s": {"second", "seconds", "sec", "secs"},
	"ms": {"ms", "millisecond", "milliseconds"}, "min": {"minute", "minutes", "min", "mins"},
	"h": {"h", "hr", "hrs", "hour", "hours"}, "day": {"day", "days"}, "week": {"week", "weeks"},
	"month": {"month", "months"}, "year": {"year", "years", "yr", "yrs"}, "w": {"w", "watt", "watts"},
	"kw": {"kw", "kilowatt", "kilowatts"}, "mw": {"mw", "megawatt", "megawatts"}, "gw": {"gw"}, "kwh": {"kwh"},
	"v": {"v", "volt", "volts"}, "hz": {"hz"}, "khz": {"khz"}, "mhz": {"mhz"}, "ghz": {"ghz"},
	"kb": {"kb"}, "mb": {"mb"}, "gb": {"gb"}, "tb": {"tb"}, "pa": {"pa"}, "kpa": {"kpa"}, "bar": {"bar"}, "psi": {"psi"},
})

func unitTable(groups map[string][]string) map[string]string {
	t := make(map[string]string)
	for unit, spellings := range groups {
		for _, s := range spellings {
			t[s] = unit
		}
	}
	return t
}
