package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		return &store.FieldError{Field: kind.Field, Message: fmt.Sprintf("is a %s; it must be a %s", kind.Value, kind.Type)}
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
