# Strata: PostgreSQL extensions on a shared C library.  `make help` tells more.

PG_CONFIG ?= $(shell bash -c '. ci/common.sh; find_pg_config')
EXTENSIONS := $(patsubst extensions/%/Makefile,%,$(wildcard extensions/*/Makefile))
PREFIX ?= $(CURDIR)/build/assert-server

.PHONY: all install uninstall check check-all soak check-core bench bench-full lint \
	check-server-suite assert-server deb dist release clean help

all:
	@for e in $(EXTENSIONS); do $(MAKE) -C extensions/$$e PG_CONFIG='$(PG_CONFIG)' || exit; done

install uninstall:
	@for e in $(EXTENSIONS); do $(MAKE) -C extensions/$$e $@ PG_CONFIG='$(PG_CONFIG)' || exit; done

# The scripts find a server themselves where none is given.
GIVEN = $(if $(filter command environment,$(firstword $(origin PG_CONFIG))),PG_CONFIG='$(PG_CONFIG)')

check:
	@$(GIVEN) ci/check.sh $(ARGS)

check-all:
	@$(GIVEN) ci/check.sh tests $(ARGS)

soak:
	@$(GIVEN) SOAK_MINUTES='$(or $(MINUTES),10)' JOBS=1 ci/check.sh -rP tests/test_soak.py

check-core:
	@$(MAKE) -C common/core check

bench:
	@$(GIVEN) DATASETS='$(DATASETS)' ROWS='$(ROWS)' SYSTEMS='$(SYSTEMS)' RUNS='$(RUNS)' WORKERS='$(WORKERS)' ci/bench.sh

bench-full:
	@$(GIVEN) SYSTEMS='$(SYSTEMS)' RUNS='$(RUNS)' WORKERS='$(WORKERS)' ci/bench.sh full

lint:
	@$(GIVEN) ci/lint.sh

check-server-suite:
	@$(GIVEN) ci/server-suite.sh $(ARGS)

assert-server:
	@ci/assert-server.sh '$(PREFIX)'

deb:
	@ci/deb.sh

dist:
	@ci/dist.sh

release:
	@ci/release.sh '$(VERSION)'

clean:
	@for e in $(EXTENSIONS); do $(MAKE) -s -C extensions/$$e clean PG_CONFIG='$(PG_CONFIG)' || exit; done
	@$(MAKE) -s -C common/core clean
	rm -rf build common/build

help:
	@echo 'make                     build all extensions for $$PG_CONFIG'
	@echo 'make install             install them (uninstall: remove them again)'
	@echo 'make check               tests of a few minutes, on a throwaway server; or those that'
	@echo '                         ARGS="tests/test_x.py -k y" names'
	@echo 'make check-all           all tests'
	@echo 'make soak                sessions, maintenance and faults for MINUTES=10'
	@echo 'make check-core          the C library alone: units, sanitizers, fuzz corpora'
	@echo 'make bench               heap, DuckDB and ours in eight minutes: a first verdict after'
	@echo '                         three, a table, charts; ROWS= SYSTEMS= RUNS= WORKERS='
	@echo '    DATASETS=events      all about one table: queries, writes, ageing     22 min'
	@echo '    DATASETS=flights     queries of real rows                              3 min'
	@echo '    DATASETS=sorted      sorted_heap and zonemap against btree and BRIN    9 min'
	@echo '    DATASETS=pgbench     scripts of pgbench                                3 min'
	@echo '    DATASETS=zson        documents of many kinds against jsonb            12 min'
	@echo '    DATASETS=live        queries beside writers; LIVE_MINUTES=10      13 min per system'
	@echo '    DATASETS=clickbench  CLICKBENCH=dir HITS=file                         15 min'
	@echo '    DATASETS=tpch        TPCH=dir SF=1                                    20 min'
	@echo '    DATASETS=warehouse   ROWS=1000000                                      8 min'
	@echo '    DATASETS=jsonbench   JSONBENCH=dir-or-file ROWS=500000                 8 min'
	@echo 'make bench-full          all of these but the last five, at big scales: hours;'
	@echo '                         run it again to go on where it was ended'
	@echo 'make lint                layers, style, and builds where warnings are errors'
	@echo 'make check-server-suite  the server'"'"'s own tests with each access method as default'
	@echo 'make assert-server       build a server with assertions into PREFIX=dir'
	@echo 'make deb                 Debian packages for every server that is installed, in build/deb'
	@echo 'make dist                a zip of each extension for PGXN, in build/dist'
	@echo 'make release VERSION=    make this checkout that version, commit and tag it'
	@echo 'make clean               remove what was built'
	@echo
	@echo 'PG_CONFIG=path chooses the server (15 to 19); check, bench and lint install'
	@echo 'what they need by apt when run as root or with sudo.'
