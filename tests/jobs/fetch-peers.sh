# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# The job `test peers`: fetches the sources of other unwinders' tests as Debian source packages, and builds them for the guest.

# peers_fetch SUITE PACKAGE PATTERN...: what the patterns name of the package's sources is in $PEERS_DIR/SUITE.
peers_fetch() {
	local suite=$1 package=$2 new=$PEERS_DIR/$1.new state=$PEERS_DIR/apt stamp file inner
	stamp=$(digest "$*")
	shift 2
	rm -rf -- "$new" "$new.tar"
	mkdir -p "$new" "$new.tar"
	# Of the tarball apt knows the checksum; Debian's changes are not needed.
	(cd "$new.tar" && root_apt deb-src "$state" source --download-only --tar-only "$package")
	file=$(find "$new.tar" -name '*.orig.tar.*' ! -name '*.asc' | head -n 1)
	if inner=$(tar tf "$file" | grep -E '/gcc-[^/]*\.tar\.xz$'); then
		# Debian's of GCC are tarballs in a tarball.
		tar xOf "$file" "$inner" | tar xJ -C "$new" --strip-components=1 --wildcards "$@"
	else
		tar xf "$file" -C "$new" --strip-components=1 --wildcards "$@"
	fi
	rm -rf -- "$new.tar"
	finish "$new" "$PEERS_DIR/$suite" "$stamp"
}

# peers_missing SUITE LOG: notes why it is not here.
peers_missing() {
	rm -rf -- "${PEERS_DIR:?}/$1"{,.new,.new.tar}
	{ grep -E '^E: |tar: ' "$2" || tail -n 1 "$2"; } | head -n 1 |
		sed "s/^/the sources of $1 cannot be fetched: /" >"$(built_folder)/peers-missing/$1"
	skipped "$(cat "$(built_folder)/peers-missing/$1")"
}

# peers_need SUITE PACKAGE PATTERN...: fetches it if it is not here, or notes why that cannot be done.
peers_need() {
	local suite=$1
	if is_made "$PEERS_DIR/$suite" "$(digest "$*")"; then
		return
	fi
	if [[ -z $PEERS_APT ]]; then
		run_step peers-update "fetching the list of Debian's source packages" root_apt deb-src "$PEERS_DIR/apt" --error-on=any update
		PEERS_APT=$STEP_STATUS
	fi
	if [[ $PEERS_APT != 0 ]]; then
		peers_missing "$suite" "$BUILD_DIR/log/setup-peers-update.log"
		return
	fi
	run_step "peers-$suite" "fetching the tests of $suite: Debian's source package $2" peers_fetch "$@"
	((STEP_STATUS == 0)) || peers_missing "$suite" "$BUILD_DIR/log/setup-peers-$suite.log"
}
PEERS_APT=

peers_build() {
	local dir=$1
	vm_build "$dir"
	VM_BINDS=$(printf '%s\n' "$dir:$dir" "$PEERS_DIR:/mnt") in_root "$dir/source/tests/peers/build" "$dir/source" /mnt "$dir/peers"
	mv -- "$dir/peers-missing" "$dir/peers/missing"
}

test_peers() {
	local dir begun=$SECONDS gcc
	setup
	dir=$(built_folder)
	PEERS_DIR=$CACHE_DIR/peers-$KERNEL_NAME
	rm -rf -- "$dir/peers-missing"
	mkdir -p "$dir/peers-missing" "$PEERS_DIR"
	gcc=gcc-$(in_root gcc -dumpversion)
	peers_need libunwind libunwind '*/tests/*' '*/include/*' '*/src/*.h'
	peers_need elfutils elfutils '*/tests/*.[ch]' '*/lib/*.h'
	peers_need gcc "$gcc" '*/gcc/testsuite/gcc.dg/cleanup-*.c' '*/gcc/testsuite/gcc.target/i386/cleanup-*.c' \
		'*/gcc/testsuite/g++.dg/ext/cleanup-*.C' '*/gcc/testsuite/g++.dg/eh/forced*.C' \
		'*/gcc/testsuite/g++.dg/torture/stackalign/*' '*/libbacktrace/*.[ch]' '*/libbacktrace/*.h.in' '*/include/*.h' '*/include/*.def'
	if [[ ! -d $PEERS_DIR/libunwind && ! -d $PEERS_DIR/elfutils && ! -d $PEERS_DIR/gcc ]]; then
		return 0
	fi
	run_step peers-build "building the peers' test programs" peers_build "$dir"
	if ((STEP_STATUS)); then
		failed "the peers' test programs cannot be built"
		return 0
	fi
	TEST_LIMIT=3600 test_vm long/peers.sh
	# What the programs ask of registers, a stack cannot tell; their tables can.
	host_tools "rows of the peers' programs" tests/host || return 0
	if [[ -x $BUILD_DIR/test-host/tests/host/rows ]]; then
		counted "rows of the peers' programs" "$BUILD_DIR/test-host/tests/host/rows" "$dir/peers"
	else
		skipped "rows of the peers' programs: built without libdwarf or libdw"
	fi
	[[ ! -e $dir/peers/table ]] || cat "$dir/peers/table"
	say "    done in $((SECONDS - begun)) s; the table is in $dir/peers/table"
}
