# The front door. Every target does the set-up it needs by itself; `make help` lists them.
# CI=1 makes warnings errors and only checks generated code where `make gen` would update it.
SHELL := bash
.DEFAULT_GOAL := build

PRESET ?= $(if $(CI),ci,$(if $(filter aarch64,$(shell uname -m)),on-arm64,release))
PREFIX ?= /usr/local
MINUTES ?= 10
RUNS ?= 10000
ROUNDS ?= 100
BUILD := build/release

.PHONY: help build demo test fuzz fuzz-short fuzz-vulkan fuzz-protocols fuzz-api fuzz-parser fuzz-signatures compare-ptxas \
        stress-exit stress-limits stress-rust stress-go growth floors code-hashes machine-code litmus bench gen tidy lint \
        format docs test-docs dist test-dist install uninstall \
        test-asan test-ubsan test-tsan test-comm test-gpu test-vulkan test-opengl test-arm64 test-long test-clients \
        test-clients-long \
        test-check-mutants test-check-sanitizers setup clean

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the library, the plugins, the command (the default)
	@scripts/build.sh $(PRESET) kernelmill kernelmill-plugins kernelmill-command

demo: ## runs CUDA kernels on a photograph and shows where the pictures are (DEVICE=vulkan:0)
	@scripts/demo.sh $(PRESET) $(if $(DEVICE),--device $(DEVICE))

test: ## builds everything and runs the tests, but for those of test-long
	@scripts/test.sh $(PRESET)
test-long: ## bindings with compilers and features beside the usual ones, which take minutes
	@scripts/test.sh $(PRESET) long

test-asan: ## the tests of the C ABI under AddressSanitizer
	@scripts/test.sh asan
test-ubsan: ## the same under UndefinedBehaviorSanitizer
	@scripts/test.sh ubsan
test-tsan: ## the same under ThreadSanitizer
	@scripts/test.sh tsan

test-check-sanitizers: ## random kernels under all tools of the checker, with ASan and with TSan
	@scripts/test.sh asan check
	@scripts/test.sh tsan check

docs: ## the documentation as a site that opens from a folder: build/docs/index.html
	@scripts/docs.sh
test-docs: ## the same, and a headless browser's tests of it, with pictures of a report and a trace
	@scripts/docs.sh --test

test-clients: ## tests of others' programs on our CUDA driver (BASELINE=1: and on one that does nothing)
	@scripts/test_clients.sh $(PRESET)
test-clients-long: ## the same for numba-cuda's tests, which take half an hour
	@scripts/test_clients.sh $(PRESET) --long

test-comm: ## ranks of communicators that fail, each way ROUNDS times (100), and with a full /dev/shm
	@scripts/test_comm.sh $(PRESET) $(ROUNDS)

test-gpu: ## all tests that this machine's NVIDIA GPU can run, where it has one
	@scripts/test_gpu.sh $(PRESET)

test-vulkan: ## all kernel tests on software Vulkan, and what it refuses (tests/vulkan/kernels.tsv)
	@scripts/test_vulkan.sh $(PRESET)

test-opengl: ## the same on software OpenGL (tests/opengl/kernels.tsv)
	@scripts/test_vulkan.sh $(PRESET) opengl

test-arm64: ## kernels, faults and the C ABI on AArch64, built by clang and run under qemu
	@scripts/test_arm64.sh $(PRESET)

fuzz: ## random kernels, engine against interpreter, for MINUTES (SEED picks them)
	@scripts/fuzz.sh kernels $(MINUTES) $(SEED)
fuzz-short: ## the same in checked contexts that lack memory: are wild accesses found
	@scripts/fuzz.sh short $(MINUTES) $(SEED)
fuzz-vulkan: ## the same on Vulkan's software device, structured and stepped shaders, for MINUTES
	@scripts/fuzz.sh vulkan $(MINUTES) $(SEED)
fuzz-protocols: ## random kernels whose threads wait for each other, for MINUTES (SEED picks them)
	@scripts/fuzz.sh protocols $(MINUTES) $(SEED)
fuzz-api: ## random calls of the C ABI, the CUDA driver and its libraries, for MINUTES (SEED picks them)
	@scripts/fuzz.sh api $(MINUTES) $(SEED)
fuzz-parser: ## random text on the parser and verifier, for MINUTES
	@scripts/fuzz.sh parser $(MINUTES) $(SEED)

fuzz-signatures: ## mutated sources and mangled names on what reads kernels' types, for MINUTES
	@scripts/fuzz.sh signatures $(MINUTES) $(SEED)

test-check-mutants: ## sound kernels without one barrier, fence or bound each: does the checker see it
	@scripts/build.sh $(PRESET) kernelmill kernelmill-cpu kernelmill-command
	@tests/mutants/mutants.py $(BUILD)/bin/kernelmill

compare-ptxas: ## what we and NVIDIA's ptxas take of LINES changed lines of PTX (KM_PTXAS names it)
	@scripts/compare_ptxas.sh $(LINES)

stress-exit: ## ends RUNS processes (ten thousand) at random moments, in all ways there are
	@scripts/stress.sh $(PRESET) exit $(RUNS)
stress-limits: ## has processes run out of memory, files, threads: hundreds of values of each
	@scripts/stress.sh $(PRESET) limits
stress-rust: ## makes every object of the Rust crate 10^5 times, and awaits 10^6 ends of work
	@scripts/stress.sh $(PRESET) rust
stress-go: ## makes every object of the Go packages 10^5 times, from one and from eight goroutines
	@scripts/stress.sh $(PRESET) go

growth: ## how compile time grows with each dimension of a module, further than the tests go
	@scripts/build.sh $(PRESET) km_growth
	@$(BUILD)/tests/km_growth --long

floors: ## draws which folder includes which in core, the CPU backend, simt and the drop-in libraries
	@scripts/floors.py

code-hashes: ## compares the machine code of all kernels with TABLE, or writes it (QUICK=1: a sample)
	@scripts/code_hashes.sh "$(TABLE)" $(QUICK)

machine-code: ## writes the tables of instruction counts and of memory order that the tests compare with
	@scripts/build.sh $(PRESET) km_machine_code
	@for check in counts orders; do \
	  KM_CACHE_DIR=off $(BUILD)/tests/km_machine_code $$check tests/machine_code/$$check.tsv --write; done

litmus: ## litmus tests of PTX's memory model on DEVICE (default auto): 96 tests of a second each
	@scripts/build.sh $(PRESET) kernelmill kernelmill-plugins km_litmus
	@$(BUILD)/tests/km_litmus --device=$(or $(DEVICE),auto)

bench: ## compares with PoCL, Intel's OpenCL, OpenMP (KERNELS=a,b, QUICK=1 narrow it; VULKAN=1: Vulkan)
ifeq ($(VULKAN),1)
	@scripts/build.sh $(PRESET) kernelmill kernelmill-plugins bench_kernelmill
	@bench/vulkan.py --build $(BUILD)
else
	@scripts/setup.sh bench
	@scripts/build.sh $(PRESET) kernelmill kernelmill-cpu
	@cmake -B $(BUILD) -DKM_BENCH_ARCH=$(if $(VECTORS),x86-64-v3,native) >/dev/null
	@cmake --build $(BUILD) --target kernelmill_bench
	@bench/run.py --build $(BUILD)
endif

gen: ## regenerates what is generated and committed (CI=1: only checks)
	@scripts/build.sh $(PRESET) gen

tidy: ## checks layers, limits, dead files, formatting
	@scripts/setup.sh
	@python3 tests/tidy/tidy.py
	@scripts/format.sh --check

format: ## formats all sources in place
	@scripts/format.sh

lint: ## clang-tidy over all sources (slow)
	@scripts/build.sh $(PRESET) km_version
	@run-clang-tidy-19 -quiet -p $(BUILD) "$(CURDIR)/(src|dropin|gen)/.*\.cpp$$"

dist: ## makes all packages of a release in dist/, with checksums (ARCH="x86_64 arm64": for both)
	@scripts/dist.sh
test-dist: ## installs each package as its user would, also on Debian 11 to 13 (as root; needs a network)
	@scripts/dist.sh test

install: build ## installs below PREFIX (default /usr/local; DESTDIR is honoured)
	@cmake --install $(BUILD) --prefix "$(PREFIX)"
uninstall: ## removes what the last `make install` of this checkout has installed
	@scripts/uninstall.sh $(BUILD)

setup: ## installs what scripts/versions.txt names, nothing else
	@scripts/setup.sh

clean: ## removes all builds
	@rm -rf build
