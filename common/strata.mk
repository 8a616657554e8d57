# What every extension of Strata needs for its build: its Makefile sets
# STRATA_EXTENSION, DATA, REGRESS and ISOLATION, and includes this file.
#
# Objects stand in build/<key>/, the key being made of the server's version and
# header directory: a change of PG_CONFIG cannot reuse objects of another server.

all:

STRATA_COMMON := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
STRATA_KEY := $(shell $(PG_CONFIG) --version --includedir-server | \
	sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p')-$(shell $(PG_CONFIG) --version --includedir-server --cflags | \
	cksum | cut -d' ' -f1)

include $(STRATA_COMMON)/core/core.mk

STRATA_OBJDIR := build/$(STRATA_KEY)
STRATA_PGDIR := $(STRATA_COMMON)/pg/build/$(STRATA_KEY)

STRATA_SRCS := $(sort $(wildcard src/*.c src/*/*.c))
STRATA_PG_SRCS := $(sort $(notdir $(wildcard $(STRATA_COMMON)/pg/*.c)))
STRATA_PG_LIB := $(STRATA_PGDIR)/libst_pg.a
STRATA_CORE_LIB := $(STRATA_COMMON)/core/build/libst_core.a

MODULE_big = $(STRATA_EXTENSION)
EXTENSION = $(STRATA_EXTENSION)
OBJS = $(STRATA_SRCS:%.c=$(STRATA_OBJDIR)/%.o)
EXTRA_CLEAN = build $(STRATA_COMMON)/pg/build test/results test/regression.* test/output_iso

STRATA_INCLUDES = -I$(STRATA_COMMON)/core -I$(STRATA_COMMON)/pg \
	$(patsubst %/,-I%,$(sort $(dir $(STRATA_SRCS))))
# Before 16 the server does not define PGDLLEXPORT for hidden visibility.
PG_CPPFLAGS = $(STRATA_INCLUDES) \
	-DPGDLLEXPORT='__attribute__((visibility("default")))'
PG_CFLAGS = -std=gnu11 -fPIC -fvisibility=hidden -Wall -Wextra -Werror \
	-Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
	-Wno-cast-function-type -Wno-clobbered
SHLIB_LINK = $(STRATA_PG_LIB) $(STRATA_CORE_LIB) -Wl,--exclude-libs,ALL $(CORE_LIBS)
SHLIB_PREREQS = $(STRATA_PG_LIB) $(STRATA_CORE_LIB) build/key

# Bitcode is of no use: no function of ours is inlined into expressions.
override with_llvm = no

REGRESS_OPTS = --inputdir=test --outputdir=test
ISOLATION_OPTS = --inputdir=test --outputdir=test/output_iso

include $(PGXS)

# -Wno-clobbered is gcc's own.
ifneq (,$(findstring clang,$(CC)))
override CFLAGS := $(filter-out -Wno-clobbered,$(CFLAGS))
endif

$(STRATA_OBJDIR)/%.o: %.c Makefile $(STRATA_COMMON)/strata.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(STRATA_PGDIR)/%.o: $(STRATA_COMMON)/pg/%.c $(STRATA_COMMON)/strata.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(STRATA_PG_LIB): $(STRATA_PG_SRCS:%.c=$(STRATA_PGDIR)/%.o)
	rm -f $@
	$(AR) rcs $@ $^

# make -C core knows what is out of date.
$(STRATA_CORE_LIB): strata-core
.PHONY: strata-core
strata-core:
	@$(MAKE) -s -C $(STRATA_COMMON)/core all

# The library itself has no key in its name: link again for another server.
build/key: strata-key
.PHONY: strata-key
strata-key:
	@mkdir -p build
	@test "$$(cat build/key 2>/dev/null)" = "$(STRATA_KEY)" || echo "$(STRATA_KEY)" > build/key

-include $(wildcard $(STRATA_OBJDIR)/src/*.d $(STRATA_OBJDIR)/src/*/*.d $(STRATA_PGDIR)/*.d)
