#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What `make install` installs is enough for a program in C and in C++, shared and
# static, found with pkg-config; the header is clean at any level of warnings.
# Environment: MAKE, CC, CXX (empty: none), PKG_CONFIG, SANITIZE, SRCDIR; in
# libkunwind/ of the build.
set -eu

number=0
failed=0

check() {
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$dir/said" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$dir/said"
		failed=1
	fi
}

# Called by check().
# shellcheck disable=SC2317
# Without the module the example says so and fails; with it, it prints frames.
runs() {
	said=$("$@" 2>&1) || {
		[ ! -e /dev/kunwind ] && [ "$said" = "kunwind_open: No such device" ]
		return
	}
	printf '%s\n' "$said"
	printf '%s\n' "$said" | grep -q '^\[3\] 0x' &&
		printf '%s\n' "$said" | grep -q '^COMPLETE: '
}

dir=$(mktemp -d)
trap 'rm -rf -- "$dir"' EXIT
warnings="-Wall -Wextra -Wshadow -Wundef -pedantic -Werror"

check "make install" "$MAKE" install DESTDIR="$dir/root"

PKG_CONFIG_SYSROOT_DIR=$dir/root
PKG_CONFIG_LIBDIR=$(dirname "$(find "$dir/root" -name libkunwind.pc)")
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
check "every function's manual page is installed" test -e \
	"$(find "$dir/root" -name kunwind_close.3)"
check "pkg-config finds libkunwind" "$PKG_CONFIG" --exists --print-errors libkunwind
cflags=$("$PKG_CONFIG" --cflags libkunwind)
libs=$("$PKG_CONFIG" --libs libkunwind)
libdir=$dir/root$(PKG_CONFIG_SYSROOT_DIR='' "$PKG_CONFIG" --variable=libdir libkunwind)

# The words of these variables are arguments.
# shellcheck disable=SC2086
{
	check "the example, shared" $CC -std=gnu11 $warnings $SANITIZE $cflags \
		"$SRCDIR/examples/backtrace.c" $libs -o "$dir/shared"
	check "the example, with the static library" $CC -std=gnu11 $warnings $SANITIZE \
		$cflags "$SRCDIR/examples/backtrace.c" "$libdir/libkunwind.a" -o "$dir/static"
	check "the example of a profile" $CC -std=gnu11 $warnings $SANITIZE $cflags \
		"$SRCDIR/examples/profile.c" $libs -o "$dir/profile"
	if [ -n "$CXX" ]; then
		check "the example of a profile, C++" $CXX -std=c++17 $warnings $SANITIZE $cflags \
			"$SRCDIR/examples/scope.cc" $libs -o "$dir/scope"
	fi
	check "the example runs, shared" runs env LD_LIBRARY_PATH="$libdir" "$dir/shared"
	check "the example runs, with the static library" runs "$dir/static"

	echo '#include <libkunwind.h>' >"$dir/header.c"
	cp "$dir/header.c" "$dir/header.cc"
	check "the header alone, C99" $CC -std=c99 $warnings $cflags -fsyntax-only \
		"$dir/header.c"
	if [ -n "$CXX" ]; then
		check "the header alone, C++11" $CXX -std=c++11 $warnings $cflags \
			-fsyntax-only "$dir/header.cc"
	fi
}

echo "1..$number"
exit "$failed"
