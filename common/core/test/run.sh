#!/bin/sh
# Runs the test programs given, from common/core, and fails if one fails.
# ST_TEST_SEED=<number> repeats a run with other random data; EMULATOR=<command>
# runs them.
status=0
for program in "$@"; do
	if ! ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}" $EMULATOR "$program"; then
		echo "FAILED: $program"
		status=1
	fi
done
exit $status
