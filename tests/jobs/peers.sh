# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# The job `test peers`: builds the tests of other unwinders for the guest, from Debian's source packages.

peers_build() {
	local dir=$1
	vm_build "$dir"
	VM_BINDS=$(printf '%s\n' "$dir:$dir" "$SOURCES_DIR:/usr/src/peers") in_root "$dir/source/tests/peers/build" "$dir/source" /usr/src/peers "$dir/peers"
	mv -- "$dir/peers-missing" "$dir/peers/missing"
}

test_peers() {
	local dir begun=$SECONDS gcc
	setup
	dir=$(built_folder)
	SOURCES_DIR=$CACHE_DIR/peers-$KERNEL_NAME SOURCES_MISSING=$dir/peers-missing
	rm -rf -- "$SOURCES_MISSING"
	mkdir -p "$SOURCES_MISSING" "$SOURCES_DIR"
	gcc=gcc-$(in_root gcc -dumpversion)
	sources_need libunwind libunwind '*/tests/*' '*/include/*' '*/src/*.h'
	sources_need elfutils elfutils '*/tests/*.[ch]' '*/lib/*.h'
	sources_need gcc "$gcc" '*/gcc/testsuite/gcc.dg/cleanup-*.c' '*/gcc/testsuite/gcc.target/i386/cleanup-*.c' \
		'*/gcc/testsuite/g++.dg/ext/cleanup-*.C' '*/gcc/testsuite/g++.dg/eh/forced*.C' \
		'*/gcc/testsuite/g++.dg/torture/stackalign/*' '*/libbacktrace/*.[ch]' '*/libbacktrace/*.h.in' '*/include/*.h' '*/include/*.def'
	if [[ ! -d $SOURCES_DIR/libunwind && ! -d $SOURCES_DIR/elfutils && ! -d $SOURCES_DIR/gcc ]]; then
		return 0
	fi
	run_step peers-build "building the peers' test programs" build_alone peers_build "$dir"
	if ((STEP_STATUS)); then
		failed "the peers' test programs cannot be built"
		return 0
	fi
	TEST_LIMIT=3600 test_vm long/peers.sh
	# What the programs ask of registers, a stack cannot tell; their tables can.
	host_tools "rows of the peers' programs" tests/host
	((STEP_STATUS == 0)) || return 0
	if [[ -x $BUILD_DIR/test-host/tests/host/rows ]]; then
		counted "rows of the peers' programs" "$BUILD_DIR/test-host/tests/host/rows" "$dir/peers"
	else
		skipped "rows of the peers' programs: built without libdwarf or libdw"
	fi
	from_guest "$GUEST_DIR/peers-table"
	say "    done in $((SECONDS - begun)) s; the table is in $GUEST_DIR/peers-table"
}
