# What whoever builds common/core needs to know: included by common/core/Makefile
# and by common/strata.mk.  CORE_DIR is the directory of this file.

CORE_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))

# Every C file of these folders belongs to the library.
CORE_ROOMS := bits codec int float string zson
CORE_SRCS := $(sort $(patsubst $(CORE_DIR)/%,%,$(foreach room,$(CORE_ROOMS),\
	$(wildcard $(CORE_DIR)/$(room)/*.c))))
CORE_INCLUDES := $(addprefix -I$(CORE_DIR)/,$(CORE_ROOMS))

CORE_WARNINGS = -Wall -Wextra -Werror -Wmissing-prototypes -Wpointer-arith
CORE_CFLAGS = -std=gnu11 -O3 -g -fPIC -fvisibility=hidden \
	-fno-strict-overflow $(CORE_WARNINGS)

# Libraries that a program or extension with libst_core.a links.
CORE_LIBS = -lzstd -llz4 -lm
