# kanban-run: `make help` lists the targets.
GO      ?= go
BIN     := bin/kanban-run
BOARD   ?= examples/hello/kanban.yaml
ARGS    ?=
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOL    := $(GO) tool -modfile=.ci/tools/go.mod
SOURCES := $(shell find cmd orchestrator roles schema -name '*.go' -not -name '*_test.go') \
           $(wildcard roles/*.md schema/*.json) go.mod go.sum

.DEFAULT_GOAL := help
.PHONY: help run build test check lint lint-ci cross fuzz soak bench test-actions test-agents clean
SCRIPTS := $(shell find .ci cmd examples -name '*.sh') .ci/agents/install .ci/run .ci/run-example .ci/tools/shellcheck

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## run an example board on a private copy: make run [BOARD=examples/hello/kanban.yaml] [ARGS=...]
	@.ci/run-example $(BIN) $(BOARD) $(ARGS)

build: $(BIN) ## build bin/kanban-run

$(BIN): $(SOURCES)
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/kanban-run

test: ## run the tests: packages, and scripts against the built binary
	$(GO) test ./...

# The tests with real agents are left out: the race detector does not look into other programs, and make test has run them.
check: lint lint-ci cross ## what CI runs: format, vet, staticcheck, tests with the race detector, short fuzzing, each benchmark once
	KANBAN_RUN_REQUIRE_AGENTS=none $(GO) test -race ./...
	$(MAKE) --no-print-directory fuzz FUZZTIME=3000x
	$(GO) test -run '^$$' -bench . -benchtime 1x ./orchestrator/... >bin/bench.log || { cat bin/bench.log; exit 1; }

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l cmd orchestrator roles schema .ci)" || { gofmt -d cmd orchestrator roles schema .ci; exit 1; }
	$(GO) vet ./... ./.ci/bench ./.ci/acttest
	$(TOOL) staticcheck ./...

lint-ci: ## shellcheck over the scripts, actionlint over the workflows
	.ci/tools/shellcheck -x $(SCRIPTS)
	$(TOOL) actionlint -shellcheck=.ci/tools/shellcheck -pyflakes= .github/workflows/*.yml examples/github-actions/*.yml

cross: ## the code builds and vets on the other systems
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

# A number of executions, not a time: a target that is minimizing an input when the time is over counts as failed.
FUZZTIME ?= 100000x
fuzz: ## fuzz every target, FUZZTIME executions each
	@mkdir -p bin; set -e; grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z]+' -H orchestrator roles | sed 's#/[^/]*_test.go:func # #' | sort -u | \
	while read -r dir target; do echo "$$target ($$dir)"; \
	  $(GO) test "./$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x >bin/fuzz.log 2>&1 || { cat bin/fuzz.log; exit 1; }; done

# 10,000 take about a quarter of an hour. KANBAN_RUN_SEED=N repeats the choices of a run.
KILLS ?= 10000
soak: ## kill real runs KILLS times at random, and look whether anything was lost
	KANBAN_RUN_SOAK=$(KILLS) $(GO) test ./cmd/kanban-run -count=1 -run '^TestRandomKills$$' -timeout 60m -v

test-agents: ## install all real agents into a cache, and test the adapters with them against a fake model
	.ci/agents/install claude-codex
	.ci/agents/install gemini-opencode
	KANBAN_RUN_REQUIRE_AGENTS=all $(GO) test -count=1 -timeout 30m ./orchestrator/agent/... ./cmd/kanban-run -run 'Real|Claude|Codex|Gemini|Opencode|ACP'

bench: build ## the cost of a step beside a bare C loop that does the same work
	$(GO) run ./.ci/bench -binary $(BIN)

test-actions: ## run action.yml and the example workflows with act, on this machine
	$(GO) test ./.ci/acttest

clean: ## remove what was built
	rm -rf bin
