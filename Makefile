# The two main commands are `go run ./cmd/viz` and `go test ./...`. This file contains
# shortcuts for the others.

.PHONY: build run test check generate golden bench fuzz-short dist site site-figures

build: # a static binary, ./viz
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o viz ./cmd/viz

run:
	go run ./cmd/viz

test:
	go test ./...

check: # everything that CI runs
	.ci/run

generate: # *_templ.go from *.templ, and formatting
	go tool templ generate
	git ls-files --cached --others --exclude-standard '*.go' | grep -v '_templ\.go$$' | xargs go tool gofumpt -l -w

golden: # rewrites the golden files; read the diff before you keep it
	go test ./cmd/viz -run Golden -update

bench: # speeds, rates and sizes
	go test -run '^$$' -bench . ./infer/... ./cmd/viz ./web/...

fuzz-short: # every fuzz target for four seconds
	.ci/run fuzz all

dist: # a release of the checked-out commit, in dist/
	rm -rf dist/wasm # the build folder of earlier versions of make site and .ci/run
	go run ./cmd/viz/dist

site: # everything except classes as a static site, in site/
	rm -rf site
	go run ./cmd/viz/tab/build -o .build/wasm/viz.wasm
	cp "$$(go env GOROOT)/lib/wasm/wasm_exec.js" .build/wasm/
	go run ./cmd/viz site -program .build/wasm/viz.wasm -out site $(if $(BASE_URL),-base-url '$(BASE_URL)')

site-figures: # measures a visit to the site on one core: download size, startup time, speed and memory
	taskset -c 0 go test ./web/site -run '^$$' -bench Tab -benchtime 1x
