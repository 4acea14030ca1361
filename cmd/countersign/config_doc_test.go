package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestConfigurationIsExplained: the example of the configuration is one, with
// every line of it that is commented out too, and leaves no key out.
func TestConfigurationIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../docs/countersign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseSettings("docs/countersign.yaml", text); err != nil {
		t.Error(err)
	}
	whole := regexp.MustCompile(`(?m)^( *)# ([a-z_]+: )`).ReplaceAllString(string(text), "$1$2")
	if _, err := parseSettings("docs/countersign.yaml", []byte(whole)); err != nil {
		t.Error(err)
	}
	for of, where := range map[reflect.Type]string{
		reflect.TypeFor[settings]():         `(?m)^%s:`,
		reflect.TypeFor[endpointSettings](): `(?m)^    %s:`,
		reflect.TypeFor[retrySettings]():    `(?m)^retry:.*\b%s:`,
	} {
		for i := range of.NumField() {
			key := of.Field(i).Tag.Get("yaml")
			if key != "" && !regexp.MustCompile(strings.Replace(where, "%s", key, 1)).MatchString(whole) {
				t.Errorf("%s is not explained in docs/countersign.yaml", key)
			}
		}
	}
}
