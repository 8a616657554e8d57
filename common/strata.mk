# What every extension's Makefile includes, instead of PGXS alone:
#
#   EXTENSION = colcompress
#   SCRIPT = colcompress--1.1.sql
#   SCRIPT_PARTS = access_method.sql.in options.sql.in ...
#   UPDATE = colcompress--1.0--1.1.sql
#   UPDATE_PARTS = since_1_0.sql.in set_options.sql.in ...
#                            the scripts of CREATE EXTENSION and of ALTER
#                            EXTENSION UPDATE are made of parts: sql/*.sql of
#                            the extension, common/sql/*.sql.in of all; where
#                            these say @am@, it has the extension's name, and
#                            other words of its sql/words.sed, if it has one
#   REGRESS = ...            suites under test/sql, test/expected
#   ISOLATION = ...          suites under test/specs
#                            (both also under common/test, see below)
#   include ../../common/strata.mk
# Compiles src/**/*.c of the extension and the *.c of common/core, common/pg,
# common/vector and common/format, and links them into $(EXTENSION).so.  Those of common/ are static
# archives, so that every extension carries its own copy with no symbol shown.
#
# Objects live in build/<major>-<hash>/ (of the extension, and of common/ for
# the archives), where the hash is that of everything they depend on besides
# the sources: pg_config, server version, compiler and its flags.  So a change
# of PG_CONFIG never meets an object of another server.
#
#   PG_CONFIG=path   server to build for (default: pg_config of the PATH)
#   CC=clang         another compiler
#   COPT='-O0'       more flags for everything (after all others)
#   WERROR=1         warnings are errors
#   REGRESS_OUTPUT=dir   where installcheck writes results (default: test/out)
#
# Servers 15 to 19.  No LLVM bitcode is made: clang is not needed.

PG_CONFIG ?= pg_config

ST_COMMON := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
ST_SERVER := $(shell $(PG_CONFIG) --version)
ifeq ($(ST_SERVER),)
$(error cannot run "$(PG_CONFIG)": install the server's development package \
	(Debian: postgresql-server-dev-15) or set PG_CONFIG)
endif
# 15.9, 19rc1, 19devel
ST_MAJOR := $(shell echo '$(word 2,$(ST_SERVER))' | sed 's/[^0-9].*//')
ifeq ($(filter 15 16 17 18 19,$(ST_MAJOR)),)
$(error $(ST_SERVER) is not supported: PostgreSQL 15 to 19 are)
endif
ST_GIVEN_CC := $(if $(findstring command,$(origin CC)),$(CC))
ST_HASH := $(shell { readlink -f "$$(command -v $(PG_CONFIG))"; \
	$(PG_CONFIG); echo '$(ST_GIVEN_CC) $(COPT) $(PROFILE) $(WERROR)'; } | \
	md5sum | cut -c1-8)
ST_KEY := $(ST_MAJOR)-$(ST_HASH)
ST_BUILD := build/$(ST_KEY)
ST_COMMON_BUILD := $(ST_COMMON)/build/$(ST_KEY)

include $(ST_COMMON)/core/core.mk

# ---- what PGXS is told ----

ST_SRCS := $(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c))
ST_PG_SRCS := $(sort $(wildcard $(ST_COMMON)/pg/*/*.c $(ST_COMMON)/format/*.c \
	$(ST_COMMON)/vector/*.c \
	$(ST_COMMON)/vector/*/*.c))
ST_PG_DIRS := $(patsubst %/,%,$(sort $(dir $(ST_PG_SRCS))))
ST_LIB_CORE := $(ST_COMMON_BUILD)/libst_core.a
ST_LIB_PG := $(ST_COMMON_BUILD)/libst_pg.a
ST_EXPORTS := $(ST_BUILD)/exports.map
ST_STAMP := build/linked-for
ST_PART = $(if $(filter %.in,$(1)),$(ST_COMMON)/sql,sql)/$(1)
ST_SCRIPT_PARTS := $(foreach part,$(SCRIPT_PARTS),$(call ST_PART,$(part)))
ST_UPDATE_PARTS := $(foreach part,$(UPDATE_PARTS),$(call ST_PART,$(part)))
ST_WORDS := $(wildcard sql/words.sed)

MODULE_big = $(EXTENSION)
DATA_built = build/$(SCRIPT) build/$(UPDATE)
OBJS = $(ST_SRCS:src/%.c=$(ST_BUILD)/%.o)
PG_CPPFLAGS += $(CORE_INCLUDES) -I$(ST_COMMON)/pg $(addprefix -I,$(ST_PG_DIRS)) \
	$(addprefix -I,$(sort $(patsubst %/,%,$(dir $(ST_SRCS)))))
# Calls inside of the library are not to be interposed: lets gcc inline them.
# From 19 on the language is the one that its configure found things out by.
PG_CFLAGS += $(if $(filter-out 15 16 17 18,$(ST_MAJOR)),,-std=gnu11) -fno-semantic-interposition -Wextra \
	-Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
	-Wno-cast-function-type $(if $(WERROR),-Werror)
# The server's flags are those of the compiler it was built with; setjmp
# warnings of gcc are wrong as often as right in PG_TRY blocks.
ifneq ($(findstring clang,$(ST_GIVEN_CC)),)
PG_CFLAGS += -Wno-unknown-warning-option \
	-Wno-ignored-optimization-argument -Wno-ignored-attributes
else
PG_CFLAGS += -Wno-clobbered
endif
SHLIB_LINK += $(ST_LIB_PG) $(ST_LIB_CORE) $(CORE_LIBS) \
	-Wl,--exclude-libs,ALL -Wl,--version-script=$(ST_EXPORTS) \
	-Wl,--no-undefined-version
REGRESS_OUTPUT ?= test/out
ST_TEST_INPUT = $(REGRESS_OUTPUT)/input
REGRESS_OPTS += --inputdir=$(ST_TEST_INPUT) --outputdir=$(REGRESS_OUTPUT)
ISOLATION_OPTS += --inputdir=$(ST_TEST_INPUT) \
	--outputdir=$(REGRESS_OUTPUT)/isolation
EXTRA_CLEAN += build test/out
REGRESS_PREP += st-test-input

override with_llvm := no

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# ---- objects ----

ST_MAKEFILES := Makefile $(ST_COMMON)/strata.mk $(ST_COMMON)/core/core.mk
ST_CORE_OBJS := $(CORE_SRCS:%.c=$(ST_COMMON_BUILD)/core/%.o)
ST_PG_OBJS := $(ST_PG_SRCS:$(ST_COMMON)/%.c=$(ST_COMMON_BUILD)/%.o)
ST_CORE_CFLAGS := $(filter-out -Werror,$(CORE_CFLAGS)) \
	$(if $(WERROR),-Werror) $(COPT)

$(OBJS): $(ST_BUILD)/%.o: src/%.c $(ST_MAKEFILES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(ST_PG_OBJS): $(ST_COMMON_BUILD)/%.o: $(ST_COMMON)/%.c $(ST_MAKEFILES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fPIC -fvisibility=hidden $(CPPFLAGS) -MMD -MP -c -o $@ $<

# Loops over vectors: at -O2 gcc leaves most of them scalar.
$(patsubst $(ST_COMMON)/%.c,$(ST_COMMON_BUILD)/%.o,$(wildcard \
	$(ST_COMMON)/vector/expr/vx_vec_*.c $(ST_COMMON)/vector/filter/vx_kernels.c)): \
	CFLAGS += -O3 -fno-trapping-math

$(ST_CORE_OBJS): $(ST_COMMON_BUILD)/core/%.o: $(ST_COMMON)/core/%.c $(ST_MAKEFILES)
	@mkdir -p $(@D)
	$(CC) $(ST_CORE_CFLAGS) $(CORE_INCLUDES) -MMD -MP -c -o $@ $<

$(ST_LIB_CORE): $(ST_CORE_OBJS)
	@rm -f $@
	$(AR) rcs $@ $(ST_CORE_OBJS)

$(ST_LIB_PG): $(ST_PG_OBJS)
	@rm -f $@
	$(AR) rcs $@ $(ST_PG_OBJS)

# ---- the library ----

# Shown: what the server looks up by name, nothing else.
$(ST_EXPORTS): $(OBJS)
	@{ echo '{ global:'; \
	   nm --defined-only $(OBJS) | \
	     awk '$$2 ~ /[A-Z]/ && ($$3 == "Pg_magic_func" || $$3 == "_PG_init" || \
	                            $$3 ~ /_worker_main$$/) \
	            { print "\t" $$3 ";" } \
	          $$2 ~ /[A-Z]/ && $$3 ~ /^pg_finfo_/ \
	            { print "\t" $$3 ";\n\t" substr($$3, 10) ";" }' | sort -u; \
	   echo 'local: *; };'; } > $@

# The file's time changes when the library was last linked for another key.
$(ST_STAMP): st-always
	@mkdir -p $(@D)
	@echo '$(ST_KEY)' | cmp -s - $@ || echo '$(ST_KEY)' > $@

$(shlib): $(ST_LIB_PG) $(ST_LIB_CORE) $(ST_EXPORTS) $(ST_STAMP)

# ---- the scripts ----

build/$(SCRIPT): $(ST_SCRIPT_PARTS)
build/$(UPDATE): $(ST_UPDATE_PARTS)
build/$(SCRIPT) build/$(UPDATE): $(ST_WORDS) $(ST_MAKEFILES)
	@mkdir -p $(@D)
	@for part in $(filter %.sql %.sql.in,$^); do cat $$part; echo; done | \
		sed $(ST_WORDS:%=-f %) -e 's/@am@/$(EXTENSION)/g' > $@
	@! sed 's/@extschema@//g' $@ | grep -n '@[a-z_][a-z_]*@' || { rm $@; exit 1; }

# The name of the build directory, for scripts.
print-build-dir:
	@echo $(CURDIR)/$(ST_BUILD)

# Suites run from a directory of their own: those of common/test, which every
# access method has to pass, with @am@ and @Am@ put into words, and the
# extension's.
st-test-input:
	@rm -rf $(ST_TEST_INPUT)
	@mkdir -p $(REGRESS_OUTPUT)/isolation
	@for kind in sql expected specs; do \
		mkdir -p $(ST_TEST_INPUT)/$$kind; \
		for dir in $(ST_COMMON)/test test; do \
			for file in $$dir/$$kind/*.*; do \
				[ ! -f "$$file" ] || sed 's/@am@/$(EXTENSION)/g; s/@Am@/\u$(EXTENSION)/g' "$$file" \
					> "$(ST_TEST_INPUT)/$$kind/$${file##*/}"; \
			done; \
		done; \
	done

.PHONY: st-always st-test-input print-build-dir

-include $(OBJS:.o=.d) $(ST_PG_OBJS:.o=.d) $(ST_CORE_OBJS:.o=.d)
