#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The test programs of libkunwind and of the ioctl, built natively beforehand: automake's own `make check` runs them here.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

trap 'umount "$BUILT"/source/{libkunwind,tests/ioctl} 2>/dev/null' EXIT
for folder in libkunwind tests/ioctl; do
	built=$BUILT/source/$folder
	[[ -e $built/Makefile ]] || continue
	# What was built is read-only here, and make writes its results there: it has a copy, in the same place.
	mkdir -p "$SCRATCH/$folder" && cp -aT "$built" "$SCRATCH/$folder" && mount --bind "$SCRATCH/$folder" "$built" || exit
	find "$built" -name '*.trs' -delete
	timeout 1500 make -k -C "$built" check >"$SCRATCH/said" 2>&1
	found=0
	while read -r kind name; do
		found=1
		case $kind in
		PASS) ok "$name" true ;;
		SKIP) skip "${name%% - *}" "${name#* - }" ;;
		*)
			ok "$name ($kind)" false
			# What a failing test prints behind its result tells why.
			grep -rhF -A 12 "FAIL: ${name#"$folder"/}" "$built" --include='*.log' | head -n 14 | sed 's/^/# /'
			;;
		esac
	done < <("$TOP/tests/jobs/automake-results" "$built")
	((found)) || {
		ok "make check in $folder has results" false
		tail -n 30 "$SCRATCH/said" | sed 's/^/# /'
	}
done
((tap_number)) || skip_all "libkunwind is not there"
done_testing
