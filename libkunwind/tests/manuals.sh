#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The manual pages are well-formed, those of the command and the plugin too.
# Environment: MANDOC (empty: not installed), SRCDIR (libkunwind/ of the sources).
set -eu

if [ -z "${MANDOC-}" ]; then
	echo "1..0 # SKIP mandoc is not installed"
	exit 77
fi

number=0
failed=0
for page in "$SRCDIR"/man/*.[0-9] "$SRCDIR"/../tools/kunwind/man/*.[0-9] \
	"$SRCDIR"/../babeltrace/man/*.[0-9]; do
	number=$((number + 1))
	status=ok
	# Whether other pages are installed is no fault of this one's.
	said=$("$MANDOC" -Tlint -Wstyle "$page" 2>&1 |
		grep -Ev 'referenced manual not found|outdated mandoc.db') || true
	[ -z "$said" ] || status="not ok"
	echo "$status $number - ${page##*/}"
	if [ "$status" != ok ]; then
		failed=1
		printf '%s\n' "$said" | sed 's/^/# /'
	fi
done
echo "1..$number"
exit "$failed"
