.DEFAULT_GOAL := help
.PHONY: help test race lint fuzz bench proof crash browser build dist demo rename ci

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

test: ## run the tests; needs only Go
	go test ./...

race: ## run the tests under the race detector
	.ci/run race

lint: ## gofmt, go vet, staticcheck, known vulnerabilities
	.ci/run format vet static vulnerabilities

fuzz: ## fuzz every target for a few seconds, or one: make fuzz P=./sse T=FuzzReader D=10m
ifdef T
	go test $(or $(P),.) -run '^$$' -fuzz '^$(T)$$' -fuzztime $(or $(D),1m)
else
	.ci/run fuzz
endif

bench: ## run the benchmarks, those against rivals, and the gateway beside a reverse proxy (make bench PERF=-quick)
	go test -run '^$$' -bench . -benchmem ./...
	for dir in $$(find test -name go.mod -printf '%h\n' 2>/dev/null); do (cd $$dir && go test -run '^$$' -bench . -benchmem ./...) || exit 1; done
	cd test/perf && go run . $(PERF)

proof: ## model check, long walks, concurrent histories and storms, as deep as half an hour takes (make proof MINUTES=60: longer storms)
	BACKSTOP_PROOF=1 go test -count 1 -timeout 60m -v ./breaker ./budget ./limit . -run 'TestEveryOrder|TestEveryReachable|TestLongRandom|ExactlyOne'
	BACKSTOP_PROOF=1 go test -count 1 -timeout 60m -v -race ./breaker -run 'Histories'
	BACKSTOP_HEDGED=1 go test -count 1 -timeout 60m -race ./backstophttp
	BACKSTOP_STORMS=10000 go test -count 1 -timeout 60m -v ./sim -run 'Storm'
	BACKSTOP_PROOF=1 go test -count 1 -timeout 60m -v ./jsonfix -run 'Random|Every'
	BACKSTOP_PROOF=1 BACKSTOP_MINUTES=$(or $(MINUTES),10) go test -count 1 -timeout 120m -v ./internal/server -run 'Storms'

crash: ## break everything at the real limits and print the scorecard; redraw it: make crash CRASH="-svg docs/scorecard.svg"
	go run ./test/crash $(CRASH)

browser: ## look at the dashboard with Chromium; pictures go to artefacts/browser
	cd test/browser && go vet ./... && go test -count 1 -timeout 40m ./...

build: ## build bin/backstop, static
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/backstop ./cmd/backstop

dist: ## build the release in dist/, twice, with checksums and bills of material (VERSION=v1.2.3)
	.ci/dist

demo: ## break a primary live and watch the backups answer
	go run ./cmd/backstop demo

rename: ## give the module another path: make rename MODULE=example.com/team/backstop
	.ci/rename $(MODULE)

ci: ## everything that must hold before a merge
	.ci/run
