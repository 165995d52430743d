#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The test programs of libkunwind and of the ioctl, built natively beforehand: automake's own `make check` runs them here.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

# Automake's driver leaves a line per test in *.trs; programs that print TAP have several.
results() {
	local file found=0 kind name
	for file in "$1"/*.trs "$1"/*/*.trs; do
		[[ -e $file ]] || continue
		while read -r _ kind name; do
			found=1
			tap_number=$((tap_number + 1))
			name="${file#"$1"/}: $name"
			case $kind in
			PASS | XFAIL) echo "ok $tap_number - $name" ;;
			SKIP) echo "ok $tap_number - $name # SKIP ${name#*# SKIP}" ;;
			*)
				echo "not ok $tap_number - $name ($kind)"
				tap_failed=$((tap_failed + 1))
				tail -n 30 "${file%.trs}.log" | sed 's/^/# /'
				;;
			esac
		done < <(grep '^:test-result:' "$file")
	done
	((found)) || ok "results of ${1##*/}" false
}

for folder in libkunwind tests/ioctl; do
	[[ -e $BUILT/source/$folder/Makefile ]] || continue
	find "$BUILT/source/$folder" -name '*.trs' -delete
	ok "make check in $folder ends" timeout 1200 make -k -C "$BUILT/source/$folder" check
	results "$BUILT/source/$folder"
done
((tap_number)) || skip_all "libkunwind is not there"
done_testing
