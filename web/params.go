package web

import (
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// param is a part of the path. Ids of traces and names of runs may hold
// anything, slashes too; Echo matches their escaped form and leaves it so.
func param(c echo.Context, name string) string {
	raw := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return raw
	}
	if v, err := url.PathUnescape(raw); err == nil {
		return v
	}
	return raw
}

// timeParam reads a time of the query: RFC 3339, or a day. Absent is zero.
func timeParam(c echo.Context, name string) (time.Time, error) {
	v := c.QueryParam(name)
	if v == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, v); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, &store.FieldError{Field: name, Message: "is not a time like 2026-01-31 or 2026-01-31T12:00:00Z"}
}

// intParam reads a whole number in [low, high] of the query; absent is fallback.
func intParam(c echo.Context, name string, fallback, low, high int) (int, error) {
	v := c.QueryParam(name)
	if v == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		return 0, &store.FieldError{Field: name, Message: "is not a whole number from " + strconv.Itoa(low) + " to " + thousands(high)}
	}
	return n, nil
}
