package judge

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LoadDefinitions reads own judges from a path: one definition file, or a folder
// of them (*.yaml, *.yml) and of folders that hold a judge.yaml with its prompt
// and schema beside it. The error joins every fault of every file; judges of
// files without a fault are returned all the same, in the order of their paths.
func LoadDefinitions(path string) ([]Judge, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("judge definitions: %w", err)
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = definitionFiles(path); err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("judge definitions: %s holds no *.yaml or *.yml file and no folder with a judge.yaml", path)
		}
	}
	var judges []Judge
	var errs []error
	from := map[string]string{}
	for _, file := range files {
		j, err := loadDefinition(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if other, twice := from[j.Name]; twice {
			errs = append(errs, &DefinitionError{File: file, Msg: fmt.Sprintf("the judge %q is already defined in %s", j.Name, other)})
			continue
		}
		from[j.Name] = file
		judges = append(judges, j)
	}
	return judges, errors.Join(errs...)
}

func definitionFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("judge definitions: %w", err)
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		info, err := os.Stat(path) // follows a link
		switch {
		case err != nil || strings.HasPrefix(entry.Name(), "."):
		case info.IsDir():
			inside := filepath.Join(path, "judge.yaml")
			if _, err := os.Stat(inside); err == nil {
				files = append(files, inside)
			}
		case slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)):
			files = append(files, path)
		}
	}
	return files, nil
}

func loadDefinition(file string) (Judge, error) {
	data, err := readAtMost(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil {
		return Judge{}, &DefinitionError{File: file, Msg: err.Error()}
	}
	return ParseDefinitionWith(file, data, DefinitionFiles{Read: func(name string) ([]byte, error) {
		return readAtMost(func() (io.ReadCloser, error) { return os.OpenInRoot(filepath.Dir(file), name) })
	}})
}

// readAtMost reads one byte more than a definition may have, so that its reader
// can refuse what is too long.
func readAtMost(open func() (io.ReadCloser, error)) ([]byte, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxDefinition+1))
}
