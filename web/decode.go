package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// decodeJSON reads one JSON object of known fields. An empty body is an empty
// object. What is wrong is told by the field's name.
func decodeJSON(c echo.Context, into any) error {
	d := json.NewDecoder(c.Request().Body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return nil
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return &store.FieldError{Field: cmp.Or(kind.Field, "body"), Message: fmt.Sprintf("is %s; it must be %s", kindWord(kind.Value), typeWord(kind.Type))}
	case errors.As(err, &syntax):
		return &store.FieldError{Field: "body", Message: fmt.Sprintf("is not JSON: %v at byte %d", err, syntax.Offset)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &store.FieldError{Field: "body", Message: "ends before its JSON does"}
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return &store.FieldError{Field: strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`), Message: "is not a field of this request"}
	case err != nil:
		return unreadable(fmt.Errorf("read the body: %w", err))
	}
	if d.More() {
		return &store.FieldError{Field: "body", Message: "holds more than one JSON value"}
	}
	return nil
}

// kindWord is what was sent, in words: JSON's own kinds, a number with its digits.
func kindWord(value string) string {
	switch {
	case value == "bool":
		return "true or false"
	case value == "string":
		return "text"
	case value == "array":
		return "a list"
	case value == "object":
		return "an object"
	case strings.HasPrefix(value, "number "):
		return "the " + value
	}
	return "a " + value
}

// typeWord is what a field takes, in words.
func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeWord(t.Elem())
	}
	if t == reflect.TypeFor[json.Number]() {
		return "a number"
	}
	return "text"
}
