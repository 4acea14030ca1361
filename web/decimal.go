package web

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// errDecimal says how a number is written.
var errDecimal = errors.New("write it with a point and without separators, such as 1.5 or 1000")

// decimalForm is digits with a point, and for programs an exponent. A comma is none:
// what 1,5 or 1,500 means depends on who wrote it.
var decimalForm = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)

// decimal reads a number of a form. It is finite; the error says how to write one.
func decimal(text string) (float64, error) {
	text = strings.TrimSpace(text)
	if !decimalForm.MatchString(text) {
		return 0, errDecimal
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, errDecimal
	}
	return v, nil
}
