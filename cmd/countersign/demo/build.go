//go:build ignore

// This program packs the demo's data. It takes a folder with one folder a set
// (its traces.jsonl inside) and a folder judges with the own judges' YAML.
//
//	go run build.go -from FOLDER
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/cmd/countersign/demo"
)

func main() {
	from := flag.String("from", "", "folder with the sets")
	flag.Parse()
	log.SetFlags(0)
	total := 0
	for _, set := range demo.Sets() {
		text, err := os.ReadFile(filepath.Join(*from, set.Name, "traces.jsonl"))
		if err != nil {
			log.Fatal(err)
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := z.Write(text); err != nil {
			log.Fatal(err)
		}
		if err := z.Close(); err != nil {
			log.Fatal(err)
		}
		write(set.Name+".jsonl.gz", packed.Bytes())
		total += packed.Len()
	}
	for _, name := range []string{"answer-equivalence.yaml", "rationale-grading.yaml"} {
		text, err := os.ReadFile(filepath.Join(*from, "judges", name))
		if err != nil {
			log.Fatal(err)
		}
		write(name, text)
	}
	fmt.Printf("packed %d bytes\n", total)
}

func write(name string, data []byte) {
	if err := os.WriteFile(filepath.Join("data", name), data, 0o644); err != nil {
		log.Fatal(err)
	}
}
