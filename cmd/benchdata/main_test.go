package main

import (
	"os"
	"testing"

	"github.com/countersign/countersign/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }
