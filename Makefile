# Countersign. `make run` starts the demo, `make test` runs every test.

GO      ?= go
BIN     := bin/countersign
BENCH_DATA        ?= sqlite:///tmp/countersign-bench.db
BENCH_EVALUATIONS ?= 1000000
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# What does not touch the database, or brings its own of both kinds, needs no second run.
ONE_DATABASE := ^TestBrowser|^TestDemo$$|^TestJudge|^TestKilledBackup|^TestMovingToFullDisk|^TestLockedFile

# The tests in which things happen at once, by what their names tell. The race detector makes a test three to ten
# times slower, so `make test` lends it to these alone; the rest are one goroutine after another. races_test.go
# finds a test that starts goroutines under another name.
AT_ONCE  := AtOnce|Race|Fifty|Several|Second|Shared|Turn|Beside|Parallel|Budget|Servers|Line|Outage|Storm|Killed$$|Interrupted$$|JudgeStopped|Stop$$|StopEnds|Events|Slow|People|Reviewers|Away|WaitsFor|WaitForThe|Down|Unkept|InFlight|TakeUpkeep|Workers|CallsThat|OneCall|LostClaim|CutOnce|HappensOnce
PARALLEL := ./judge/harness ./judge/openai ./store ./store/pack ./web ./web/webhook ./cmd/countersign

.PHONY: run build test test-browser test-sqlite test-postgres test-postgres-store race check bench bench-data generate lint clean

run: build            ## build, then start the demo
	$(BIN) demo

build:                ## build bin/countersign
	$(GO) build -ldflags "-X main.version=$(VERSION)" -o $(BIN) ./cmd/countersign

test:                 ## install what the tests lack, then run them all, on both databases
	.ci/setup
	$(MAKE) -j2 test-browser test-sqlite
	$(GO) test -race -p 3 -timeout 10m -run '$(AT_ONCE)' -skip '^TestBrowser|^TestCopy' $(PARALLEL)
	$(MAKE) -j2 test-postgres-store test-postgres

# One package's tests run one after another, so the two long ones are halved.
test-browser:
	$(GO) test -timeout 12m -run '^TestBrowser' ./web

test-sqlite:
	$(GO) test -p 2 -timeout 12m -skip '^TestBrowser' ./...

test-postgres-store:
	.ci/on-postgres $(GO) test -timeout 10m -run '^Test[A-M]' -skip '$(ONE_DATABASE)' ./store

test-postgres:
	.ci/on-postgres $(GO) test -timeout 10m -run '^Test[^A-M]|^Fuzz|^Example' -skip '$(ONE_DATABASE)' ./store
	.ci/on-postgres $(GO) test -p 2 -timeout 10m -skip '$(ONE_DATABASE)' ./web ./store/storetest/... ./cmd/countersign

race:                 ## every test under the race detector; takes half an hour
	$(GO) test -race -p 2 -timeout 60m ./...

check:                ## formatting, generated files, vet, staticcheck
	.ci/check

bench:                ## the benchmarks behind docs/performance.md
	$(GO) test -run '^$$' -bench . -benchmem -timeout 30m ./judge/... ./store/... ./web/... ./cmd/...

bench-data:           ## a project of a million evaluations at BENCH_DATA (a URL); see docs/performance.md
	$(GO) run ./cmd/benchdata --to $(BENCH_DATA) --evaluations $(BENCH_EVALUATIONS)

generate:             ## rewrite generated files
	$(GO) tool templ generate -path views
	$(GO) tool templ fmt views

lint:                 ## golangci-lint, where it is installed
	golangci-lint run

clean:
	rm -rf bin
