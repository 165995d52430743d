#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# layers.sh [OBJECT ...]: dependencies point one way (Documentation/design.md).
# OBJECTs are core/'s, compiled: what they leave undefined is on a list. TAP.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

n=0 failed=0

# check NAME FOUND: nothing may have been found.
check() {
	n=$((n + 1))
	if [[ $2 ]]; then
		failed=1
		printf 'not ok %d - %s\n# %s\n' "$n" "$1" "${2//$'\n'/$'\n'# }"
	else
		echo "ok $n - $1"
	fi
}

# includes DIR ALLOWED: what its files include that does not match ALLOWED.
includes() {
	[[ -d $1 ]] || return 0
	grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' "$1" |
		grep -vE "include[[:space:]]+($2)" || true
}

own() {
	find "$1" -name '*.h' -printf '%f\n' -path '*/arch/*' -printf '%P\n' | sed 's/[.+]/\\&/g' | paste -sd'|'
}

# calls OBJECT ...: what they need of anybody else.
calls() {
	nm -u -P -- "$@" | awk 'NF > 1 { print $1 }' | sort -u |
		grep -vxFf <(nm --defined-only -P -- "$@" | awk 'NF > 1 { print $1 }') |
		grep -vxE 'mem(cpy|set|cmp|move)|strlen|kuw_port_.*|_GLOBAL_OFFSET_TABLE_' ||
		true
}

# lines PATTERN NAME ...: those of files of these names, below the product's folders, that match.
lines() {
	local pattern=$1 folders=() each names=()
	shift
	for each in Kbuild include core port kmod tracing-integration \
		lttng-integration babeltrace libkunwind tools; do
		[[ ! -e $each ]] || folders+=("$each")
	done
	for each; do
		names+=(--include="$each")
	done
	grep -rnE --exclude-dir=tests "${names[@]}" "$pattern" "${folders[@]}" || true
}

# circles DIR: its files, without .c and .h, that need each other by their includes.
circles() {
	find "$1" -name '*.[ch]' -exec grep -HoE '#include "[^"]+\.h"' {} + |
		sed -E 's|.*/([^/]+)\.[ch]:#include "(.*/)?([^/]+)\.h"|\1 \3|' |
		awk '$1 != $2' | { tsort >/dev/null; } 2>&1
}

check "core includes its own headers and the port's" \
	"$(includes core "\"(kunwind_port\.h|$(own core))\"")"
check "no two files of core need each other" "$(circles core)"
check "core does not ask where it is compiled" \
	"$(grep -rnE '__KERNEL__|MODULE|CONFIG_|__has_include' core || true)"
check "core reads foreign bytes through the cursor alone" \
	"$(find core -name '*.[ch]' ! -name 'cursor.[ch]' -exec grep -nHE '(->|\.)(p|bad)\>' {} +)"
check "only tables and the pool of expressions have words that are not aligned" \
	"$(find core -name '*.[ch]' ! -name 'cursor.[ch]' ! -name 'table.[ch]' ! -name encode.c ! -name intern.c -exec grep -nH 'unaligned' {} +)"
check "port includes core's and the uapi header alone" \
	"$(includes port/kernel '<|"kunwind_port\.h"'; includes port/host '<|"(kunwind_port|load|compile|elf|map|rule_cache|table)\.h"|"\.\./\.\./include/uapi/[^"]*"')"
check "kmod includes core, uapi and include/kunwind" \
	"$(includes kmod '<|"(compat/)?[^/]*"|"(\.\./)*(core|include)/[^"]*"')"
check "lttng-integration includes include/kunwind alone" \
	"$(includes lttng-integration '<|"[^/]*"|"(\.\./)*include/kunwind/[^"]*"')"
check "tracing-integration includes include/kunwind, uapi and kmod/compat" \
	"$(includes tracing-integration '<|"(compat/)?[^/]*"')"
check "the plugin of babeltrace2 includes its own headers alone" \
	"$(includes babeltrace '<|"[^/]*"')"
check "what a trace and its files may cost it is in one header" \
	"$(grep -rnE --include='*.c' '^#define[[:space:]]+(MAX|MOST|LEAST|MINIMUM|PATIENCE|END)(_[A-Z_]*)?[[:space:]]' babeltrace/messages babeltrace/spaces babeltrace/symbols tools/kunwind/{folders,frames,jit_names}.c || true)"
check "of kunwind's it includes the uapi header alone" \
	"$(grep -rnE 'include.*<kunwind/' babeltrace || true)"
check "libkunwind includes the uapi header alone" \
	"$(includes libkunwind '<|"[^/]*"|"(\.\./)*include/uapi/[^"]*"')"
check "the command includes libkunwind, names and files of the plugin, core with the host's port" \
	"$(includes tools/kunwind "<|\"(files\.h|keeper\.h|load\.h|module\.h|notes\.h|output\.h|parent\.h|reader_budgets\.h|safe\.h|sandbox\.h|secret_hash\.h|speed\.h|table\.h|$(own tools/kunwind))\"")"
check "neither lttng-integration, tracing-integration, babeltrace nor libkunwind reaches into core or kmod" \
	"$(grep -rnE 'include.*["</](core|kmod)/' lttng-integration tracing-integration babeltrace libkunwind 2>/dev/null || true)"
check "no source of the product includes a file of tests" \
	"$(lines 'include.*["</]tests/' '*.[chS]' '*.cc')"
# libkunwind's Makefile builds its own tests, too: those print TAP.
check "nothing of the product is built from tests" \
	"$(lines '^[^#]*\)/tests/' Kbuild Makefile.am sources.am |
		grep -v '^libkunwind/Makefile\.am:.*)/tests/tap' || true)"
check "the guest and its engine need nothing of tests" \
	"$([[ ! -d vm ]] || grep -rnE '^[^#]*tests/' vm || true)"
if (($#)); then
	check "core calls memcpy, memset, memcmp, memmove and strlen alone" \
		"$(calls "$@")"
fi
echo "1..$n"
exit $failed
