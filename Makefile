# kanban-run: `make help` lists the targets.
GO      ?= go
BIN     := bin/kanban-run
BOARD   ?= examples/hello/kanban.yaml
ARGS    ?=
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOL    := $(GO) tool -modfile=.ci/tools/go.mod
SOURCES := $(shell find cmd/kanban-run orchestrator roles schema docs -name '*.go' -not -name '*_test.go') \
           $(wildcard docs/*.md roles/*.md schema/*.json orchestrator/page/*.html orchestrator/page/*.css orchestrator/page/*.js) go.mod go.sum

.DEFAULT_GOAL := help
.PHONY: help run build install uninstall temporal test check lint cross race race-all exhaustive bench-once fuzz fuzz-short soak stress kills week mutate bench test-actions test-agents test-browser test-slurm test-temporal test-container test-release docs clean
SCRIPTS := $(shell find .ci cmd examples -name '*.sh' -o -name '*.sbatch') .ci/agents/install .ci/fuzz .ci/gotest .ci/run .ci/run-example .ci/stage .ci/stress .ci/tools/shellcheck

# One flavour of build for tests, linters, benchmarks and the program: what one has compiled, the others find in the cache, also
# in a clone in another folder.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

# Real agents have a target of their own.
# Many tests wait for a process most of their time: six at once keep two processors busy. Processes are all that these tests
# cost: a machine that is slow at starting them needs several times as long as another. make lint vets.
GO_TEST := KANBAN_TEST_REQUIRE_AGENTS=none .ci/gotest -vet=off -parallel 6 -timeout 40m
BENCHES = $(addprefix ./,$(sort $(dir $(shell grep -rl --include='*_test.go' '^func Benchmark' orchestrator))))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## run an example board on a private copy: make run [BOARD=examples/hello/kanban.yaml] [ARGS=...]
	@.ci/run-example $(BIN) $(BOARD) $(ARGS)

build: $(BIN) ## build bin/kanban-run

$(BIN): $(SOURCES)
	@$(GO) build -buildvcs=auto -ldflags '$(LDFLAGS)' -o $@ ./cmd/kanban-run

# What lies beside the program: man pages and completions, as `make install` and .goreleaser.yaml lay them below PREFIX.
bin/share: $(BIN)
	@rm -rf $@ && mkdir -p $@/bash-completion/completions $@/zsh/site-functions $@/fish/vendor_completions.d
	@$(BIN) docs --man $@/man/man1 >/dev/null
	@$(BIN) completion bash >$@/bash-completion/completions/kanban-run
	@$(BIN) completion zsh >$@/zsh/site-functions/_kanban-run
	@$(BIN) completion fish >$@/fish/vendor_completions.d/kanban-run.fish

PREFIX ?= /usr/local
PLACE   = $(DESTDIR)$(PREFIX)
install: bin/share ## install the program, its man pages and completions: [PREFIX=/usr/local] [DESTDIR=]
	install -d "$(PLACE)/bin"
	install -m 755 $(BIN) "$(PLACE)/bin/kanban-run"
	cd bin/share && find . -type f | while read -r file; do \
	  install -d "$(PLACE)/share/$${file%/*}" && install -m 644 "$$file" "$(PLACE)/share/$$file" || exit 1; done

# Only what is in bin/share: another program may have a page named kanban-run-*, too.
uninstall: bin/share ## remove what make install has installed: [PREFIX=/usr/local] [DESTDIR=]
	rm -f "$(PLACE)/bin/kanban-run"
	cd bin/share && find . -type f | while read -r file; do rm -f "$(PLACE)/share/$$file" || exit 1; done

temporal: build ## build bin/kanban-run-temporal, too: boards on many machines (cmd/kanban-run-temporal)
	$(GO) build -C cmd/kanban-run-temporal -ldflags '$(LDFLAGS)' -o $(CURDIR)/bin/kanban-run-temporal .

test: ## run the tests: packages, scripts, and a sample of the crash tests
	$(GO_TEST) ./... ./.ci/choose

# .ci/run plays these behind make test, and of the targets test-* those that a change may have touched (.ci/choose).
check: exhaustive lint race fuzz-short bench-once ## what CI runs of every change beside make test

# With the race detector all is several times slower: six at once would keep each other waiting. RACE is a list of packages.
RACE ?= $$($(GO) run ./.ci/choose race)
race: ## run the tests of packages in which a goroutine can be with the race detector, but for those of a program built without it
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO_TEST) -parallel 3 -race $(RACE)

race-all: ## run all tests with the race detector
	@$(MAKE) --no-print-directory race RACE=./...

test-slurm: ## run the array of boards with Slurm, as root
	KANBAN_TEST_REQUIRE_SLURM=1 $(GO) test -count=1 ./examples/slurm

# The server is built first, which takes some minutes. 20 rounds take about a quarter of an hour.
ROUNDS ?= 2
test-temporal: ## run boards with a real Temporal server, and kill workers, networks and servers: [ROUNDS=2]
	set -e; temporal=$$($(GO) tool -n -modfile=.ci/tools/temporal/go.mod temporal); \
	KANBAN_TEST_TEMPORAL=$$temporal KANBAN_TEST_ROUNDS=$(ROUNDS) $(GO) test -C cmd/kanban-run-temporal -count=1 -parallel 3 -timeout 40m ./...

test-container: ## build the image with buildah, and run a board in it, as root
	examples/container/check.sh

test-release: ## build what a release holds, and install, run and remove it in a fresh Debian, as root
	.ci/release/check.sh

docs: ## make the pages anew that are made from the code
	KANBAN_TEST_UPDATE=1 $(GO) test -count=1 -run TestReference ./cmd/kanban-run

# Only what make test takes a sample of, on the disk; TestExhaustiveIsWhole holds it to that.
EXHAUSTIVE := Random|Failpoint|Outlive|Reconcile|Scripts|NobodyIsLeft|NoSecret|ViewsAgree
SAMPLED = $(addprefix ./,$(sort $(dir $(shell grep -rl --include='*_test.go' KANBAN_TEST_EXHAUSTIVE orchestrator))))
exhaustive: ## run what make test samples whole: every failpoint, 300 random kills, boards of thousands of tasks, random boards
	TMPDIR=$${TMPDIR:-/tmp} KANBAN_TEST_EXHAUSTIVE=1 $(GO_TEST) -run '$(EXHAUSTIVE)' ./cmd/kanban-run
	TMPDIR=$${TMPDIR:-/tmp} KANBAN_TEST_EXHAUSTIVE=1 $(GO_TEST) $(SAMPLED)

bench-once: ## run each benchmark once
	@mkdir -p bin
	$(GO) test -run '^$$' -bench . -benchtime 1x $(BENCHES) >bin/bench.log || { cat bin/bench.log; exit 1; }

# A workflow of the examples calls another by the path that it has once both are copied.
lint: ## gofmt, go vet (for macOS, too), staticcheck; shellcheck over the scripts, actionlint over the workflows
	@test -z "$$(gofmt -l cmd orchestrator roles schema docs .ci)" || { gofmt -d cmd orchestrator roles schema docs .ci; exit 1; }
	$(GO) vet ./... ./.ci/bench ./.ci/acttest ./.ci/casecov ./.ci/choose ./.ci/picture
	$(GO) vet -C .ci/browser .
	$(GO) vet -C cmd/kanban-run-temporal ./...
	GOOS=darwin $(GO) vet ./...
	$(TOOL) staticcheck ./... ./.ci/choose
	staticcheck=$$($(GO) tool -n -modfile=.ci/tools/go.mod staticcheck) && cd cmd/kanban-run-temporal && $$staticcheck ./...
	.ci/tools/shellcheck -x $(SCRIPTS)
	$(TOOL) actionlint -shellcheck=.ci/tools/shellcheck -pyflakes= -ignore 'could not read reusable workflow file' .github/workflows/*.yml examples/github-actions/*.yml

cross: ## vet what make lint does not vet for macOS
	GOOS=darwin $(GO) vet -C cmd/kanban-run-temporal ./...

FUZZTIME ?= 100000x
fuzz: ## fuzz every target, FUZZTIME executions each
	.ci/fuzz $(FUZZTIME)

fuzz-short: ## fuzz every target a little, and longer those of the packages PACKAGES: [PACKAGES="./orchestrator/board"]
	.ci/fuzz 300x 3000x $(PACKAGES)

# A schedule runs these: .github/workflows/soak.yml.
SOAK := kills week fuzz mutate race-all cross stress test-agents test-browser test-slurm test-container test-release test-temporal test-actions
soak: ## what takes hours: random kills, long fuzzing, mutation tests, all tests with the race detector and under load, all real tools
	@failed=; for target in $(SOAK); do .ci/stage $$target ROUNDS=20 TIMES=20 || failed="$$failed $$target"; done; \
	  [ -z "$$failed" ] || { echo "these failed:$$failed" >&2; exit 1; }

TIMES ?= 5
stress: ## run the tests TIMES times beside a load on the processors: [TIMES=5]
	TIMES=$(TIMES) .ci/stress $(MAKE) --no-print-directory test

# 10,000 of each take about an hour. KANBAN_TEST_SEED=N repeats the choices of a run.
KILLS ?= 10000
kills: ## kill real runs KILLS times at random, and signal as many, and look whether anything was lost
	KANBAN_TEST_SOAK=$(KILLS) $(GO) test ./cmd/kanban-run -count=1 -run '^TestRandom' -timeout 3h -v

BOARDS ?= 200
week: ## play a week of nights with BOARDS boards of 20 tasks, outages, limits, hangs and kills, in virtual time: [BOARDS=200]
	KANBAN_TEST_WEEK=$(BOARDS) $(GO) test ./orchestrator -count=1 -run '^TestWeek$$' -timeout 1h -v

DECIDING := orchestrator/event orchestrator/flow orchestrator/walk orchestrator/contract orchestrator/projection orchestrator/health orchestrator/call orchestrator/watch orchestrator/supervisor
mutate: ## change the packages that decide a little, again and again, and look whether their tests notice
	@mkdir -p bin/casecov && $(GO) build -o bin/casecov/go ./.ci/casecov
	@set -e; gremlins=$$($(GO) tool -n -modfile=.ci/tools/gremlins/go.mod gremlins); \
	export GO="$$(command -v $(GO))" PATH="$(CURDIR)/bin/casecov:$$PATH"; for package in $(DECIDING); do \
	  $$gremlins unleash --config .ci/tools/gremlins/gremlins.yaml --output-statuses lct ./$$package; done

AGENTS ?= claude-codex gemini-opencode
test-agents: ## install the real agents into a cache, and test the adapters with them against a fake model: [AGENTS=claude-codex]
	set -e; for group in $(AGENTS); do .ci/agents/install $$group; done
	KANBAN_TEST_REQUIRE_AGENTS=$(if $(filter gemini-opencode,$(AGENTS)),all,1) \
	  $(GO) test -count=1 -timeout 30m ./orchestrator/agent/... ./cmd/kanban-run -run 'Real|Claude|Codex|Others'

bench: build ## the cost of a step beside a bare C loop that does the same work
	$(GO) run ./.ci/bench -binary $(BIN)

test-actions: ## run action.yml and the example workflows with act, on this machine
	$(GO) test -count=1 -timeout 40m ./.ci/acttest

test-browser: ## look at the pages in Chromium
	KANBAN_TEST_REQUIRE_BROWSER=1 $(GO) test -C .ci/browser -count=1 -timeout 10m .

clean: ## remove what was built
	rm -rf bin
