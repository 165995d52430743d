#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What libkunwind.so exports is what the map says, with its version, and every
# function is declared in the header and has a manual page. It stays loaded, and is bound at once.
# Environment: NM, READELF, SRCDIR (libkunwind/ of the sources); in libkunwind/ of the build.
set -eu

map=$SRCDIR/src/libkunwind.map
header=$SRCDIR/include/libkunwind.h
number=0
failed=0

ok() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=1
	fi
}

# Its words are a command and its options.
# shellcheck disable=SC2086
exported=$(${NM:-nm} -D --defined-only .libs/libkunwind.so |
	awk '$2 != "A" { print $3 }' | LC_ALL=C sort)
mapped=$(sed -n 's/^\t\(kunwind_[a-z_]*\);$/\1@@KUNWIND_1.0/p' "$map" | LC_ALL=C sort)
status=0
[ -n "$mapped" ] && [ "$exported" = "$mapped" ] || status=1
ok "$status" "exported symbols are those of the map"
if [ "$status" != 0 ]; then
	printf 'exported:\n%s\nmap:\n%s\n' "$exported" "$mapped" | sed 's/^/# /'
fi

for symbol in $mapped; do
	function=${symbol%%@*}
	status=0
	grep -Eq "[ *]$function\(" "$header" || status=1
	ok "$status" "$function is declared"
	status=0
	grep -Eq "^\.Nm $function( |$)" "$SRCDIR"/man/*.3 || status=1
	ok "$status" "$function has a manual page"
done

declared=$(grep -Eo '^[a-z].*[ *]kunwind_[a-z_]+\(|^kunwind_[a-z_]+\(' "$header" |
	grep -Eo 'kunwind_[a-z_]+\(' | sed 's/($/@@KUNWIND_1.0/' | LC_ALL=C sort -u)
status=0
[ "$declared" = "$mapped" ] || status=1
ok "$status" "declared functions are those of the map"
[ "$status" = 0 ] || printf '%s\n' "$declared" | sed 's/^/# /'

status=0
${READELF:-readelf} -dW .libs/libkunwind.so | grep -Eq 'FLAGS_1.* NODELETE' || status=1
ok "$status" "dlclose() does not unload it"

status=0
${READELF:-readelf} -dW .libs/libkunwind.so | grep -Eq 'FLAGS_1.* NOW' || status=1
ok "$status" "its calls are bound when it is loaded"

echo "1..$number"
exit "$failed"
