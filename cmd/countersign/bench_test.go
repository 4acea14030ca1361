package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// benchLines writes n traces of about 4 KB with five citations and sources.
func benchLines(b *testing.B, n int) (path string, size int64) {
	b.Helper()
	passage := strings.Repeat("the committee considered the evidence on dosing in reduced renal function and wages paid ", 6)
	var out bytes.Buffer
	for i := range n {
		fmt.Fprintf(&out, `{"id":"bench-%06d","domain":"medical","question":"Question %d: what follows?","run":"bench","judges":["citations"],"output":"`, i, i)
		for k := range 5 {
			fmt.Fprintf(&out, `%d. In case %d the sources say that the reduced dose of %d mg is right for people of low weight, and that no more is needed in step %d [%d].\n`, k+1, i, i%97, k, k+1)
		}
		out.WriteString(`","sources":[`)
		for k := range 5 {
			fmt.Fprintf(&out, `{"id":"%d","title":"Source %d","text":"Case %d. %s"},`, k+1, k+1, i, passage)
		}
		out.Truncate(out.Len() - 1)
		out.WriteString("]}\n")
	}
	path = filepath.Join(b.TempDir(), "bench.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path, int64(out.Len())
}

// BenchmarkImportCommand is the whole command: read, check, plan, store.
func BenchmarkImportCommand(b *testing.B) {
	const n = 10_000
	path, size := benchLines(b, n)
	b.SetBytes(size)
	var spent time.Duration
	for b.Loop() {
		data := b.TempDir()
		s := state{
			args: []string{"import", path, "--data", data}, stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
			lookupEnv: func(string) (string, bool) { return "", false }, now: time.Now,
		}
		at := time.Now()
		if code := run(b.Context(), &s); code != 0 {
			b.Fatalf("exit code %d", code)
		}
		spent += time.Since(at)
	}
	b.ReportMetric(float64(n*b.N)/spent.Seconds(), "traces/s")
	b.ReportMetric(float64(size)/n, "bytes/trace")
}
