package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// argsSuffix is that of the file that says, beside an output whose run is not
// whole, what the run was told to do.
const argsSuffix = ".args"

// runArguments are what decides which evaluations a run makes of a trace, and what
// they say. A run that goes on must have the same, or what was made would be left
// out of the output, or be mixed with what was made otherwise. They hold no secret.
// The trace file is none of them: what is not asked for any more is set aside.
type runArguments struct {
	Arguments []runArgument     `json:"arguments"`
	Judges    map[string]string `json:"judges"` // the prompt version of each that could be asked
}

// runArgument has a value, or a list that a later run may add to; neither: it was
// not given.
type runArgument struct {
	Name  string   `json:"name"`
	Value string   `json:"value,omitempty"`
	List  []string `json:"list,omitempty"`
}

func (a runArgument) String() string {
	return cmp.Or(a.Value, strings.Join(a.List, ", "), "not given")
}

// goesOnFrom says whether all that was made before is still asked for, as it was.
func (a runArgument) goesOnFrom(before runArgument) bool {
	return a.Value == before.Value && (len(a.List) == 0) == (len(before.List) == 0) &&
		!slices.ContainsFunc(before.List, func(v string) bool { return !slices.Contains(a.List, v) })
}

// arguments of this command.
func (c judgeCmd) arguments(s *state, all []judge.Judge, e engines, policy judge.Policy) runArguments {
	a := runArguments{Judges: map[string]string{}}
	give := func(name, value string, list ...string) {
		a.Arguments = append(a.Arguments, runArgument{name, value, list})
	}
	give("--judge", "", c.Only...)
	give("--engine", e.engine)
	if e.engine == judge.EngineOpenAI {
		give("--model", "", c.Model...)
		endpoint := c.Endpoint
		if endpoint != "" {
			endpoint += " at " + plainAddress(s.settings.Endpoints[endpoint].BaseURL)
		}
		give("--endpoint", endpoint)
		give("--base-url", plainAddress(c.BaseURL))
		give("--samples", given(c.Samples))
		give("--max-tokens", strconv.Itoa(c.MaxTokens))
	}
	give("--run", c.RunName)
	give("--attempts", absolute(c.Attempts))
	if c.Policy != "" {
		give("--policy", fmt.Sprintf("%.12s (hash of what it says)", judge.HashText(string(policy.YAML()))))
	} else {
		give("--policy", "")
	}
	for _, j := range all {
		if len(c.Only) == 0 || slices.Contains(c.Only, j.Name) {
			a.Judges[j.Name] = j.PromptVersion
		}
	}
	return a
}

func given(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func absolute(path string) string {
	if path == "" || path == "-" {
		return path
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// plainAddress is one without what may be a secret.
func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // the engine has refused it already
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return strings.TrimRight(u.String(), "/")
}

// differences from the arguments that a run began with, one for each.
func (a runArguments) differences(before runArguments) (list []string) {
	was := map[string]runArgument{}
	for _, arg := range before.Arguments {
		was[arg.Name] = arg
	}
	for _, arg := range a.Arguments {
		old, there := was[arg.Name]
		if there && !arg.goesOnFrom(old) { // what is not there goes with another engine, which is told
			list = append(list, fmt.Sprintf("%s was %s and is %s now", arg.Name, old, arg))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.Judges)) {
		switch now, there := a.Judges[name]; {
		case !there:
			list = append(list, fmt.Sprintf("judge %s was known and is not now (--judges, --judge)", name))
		case now != before.Judges[name]:
			list = append(list, fmt.Sprintf("judge %s was version %s and is %s now (--judges, --rubric, or another version of the program)",
				name, shortHash(before.Judges[name]), shortHash(now)))
		}
	}
	return list
}

// beginOutput refuses an output that is there, and one whose run began with other
// arguments; else it notes those of this run. Nothing was done when it refuses.
func beginOutput(out string, replace bool, now runArguments) error {
	info, err := os.Stat(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return usageError{err}
	case info.IsDir():
		return usagef("--out %s is a folder: name a file in it", out)
	case !info.Mode().IsRegular():
		return usagef("--out %s is no ordinary file: leave --out away, and send standard output there", out)
	case !replace:
		return usagef("--out %s is there already (%s bytes, of %s): name another file, or replace it with --force",
			out, thousands(int(info.Size())), info.ModTime().Format(time.DateTime))
	}
	kept, err := keepsAnything(out)
	if err != nil {
		return err
	}
	if kept {
		before, there, err := readArguments(out)
		if err != nil {
			return err
		}
		if differs := now.differences(before); there && len(differs) > 0 {
			return usagef("an earlier run to %s is unfinished and began otherwise: %s. "+
				"Give what it began with and it goes on, or name another file with --out. "+
				"To throw away what it made, remove %s%s, %s and %s; what models were paid for it is paid again",
				out, strings.Join(differs, "; "), out, partSuffix, earlierSuffix, repliesSuffix)
		}
	}
	return now.write(out)
}

func readArguments(out string) (a runArguments, there bool, err error) {
	text, err := os.ReadFile(out + argsSuffix)
	if errors.Is(err, os.ErrNotExist) { // an older version of the program began it
		return a, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return a, false, fmt.Errorf("read %s%s: %w; remove it if you know that the run began with the same arguments", out, argsSuffix, err)
	}
	return a, true, nil
}

func (a runArguments) write(out string) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	path := out + argsSuffix
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return usageError{err}
	}
	return os.Rename(path+".new", path)
}

// keepsAnything says whether runs that are not whole left anything that was made or
// paid for.
func keepsAnything(out string) (bool, error) {
	for _, suffix := range []string{partSuffix, earlierSuffix} {
		info, err := os.Stat(out + suffix)
		if err == nil && info.Size() > 0 {
			return true, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, usageError{err}
		}
	}
	f, err := os.Open(out + repliesSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, usageError{err}
	}
	defer f.Close()
	beginning, err := io.ReadAll(io.LimitReader(f, 4096)) // a head is far shorter
	if err != nil {
		return false, err
	}
	head := bytes.IndexByte(beginning, '\n') + 1
	return head < len(beginning), nil
}

// forgetEmpty removes what stands beside an output when it holds nothing.
func forgetEmpty(out string) error {
	if kept, err := keepsAnything(out); kept || err != nil {
		return err
	}
	return errors.Join(removeIfThere(out+partSuffix), removeIfThere(out+earlierSuffix), removeIfThere(out+repliesSuffix), removeIfThere(out+argsSuffix))
}
