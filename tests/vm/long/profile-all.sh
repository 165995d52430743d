#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kunwind profile of all that runs, for a third of what `./run.sh test soak MINUTES` says: how large the trace becomes, and its reader.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

kunwind=$BUILT/source/tools/kunwind/kunwind
export BABELTRACE_PLUGIN_PATH=$BUILT/source/babeltrace/.libs
cd "$SCRATCH" || exit

# One CPU computes; the other one starts programs.
computes() {
	while [[ ! -e end ]]; do
		python3 -c 'import json
for i in range(2000): json.loads(json.dumps({str(k): [k] * 9 for k in range(50)}))'
	done
}

starts() {
	while [[ ! -e end ]]; do
		find /usr /etc | sort | md5sum
		gzip -c /usr/bin/python3* | wc -c
		perl -e 'my %h; $h{$_ % 997} .= "x" for 1 .. 300000; print length join "", values %h'
	done
}

# Nothing is lost, which would be said.
recorded() {
	computes >/dev/null 2>&1 &
	starts >/dev/null 2>&1 &
	"$kunwind" profile -a -F 99 --duration $(((LIMIT - 3600) / 3)) --no-view -o all 2>said
	local status=$?
	touch end
	wait
	cat said
	du -sb all | awk '{ print "trace: " $1 " bytes" }'
	stat -c %s all/kernel/kunwind* | awk '{ bytes += $1 } END { print "events: " bytes " bytes" }'
	((status == 0)) && fails grep lost said
}

# The largest of the reader's processes.
read_all() {
	python3 -c 'import resource, subprocess, sys
status = subprocess.run([sys.argv[1], "report", "--top", "all"], stdout=open("top", "w"), stderr=subprocess.STDOUT).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("reader: %.0f s of CPU time, %d KiB" % (used.ru_utime + used.ru_stime, used.ru_maxrss))
sys.exit(status or used.ru_maxrss > 1 << 20)' "$kunwind"
	local status=$?
	head -n 8 top
	return "$status"
}

whole() {
	sed -n 's/.*; \([0-9.]*\) % of stacks whole$/\1/p' top | awk '{ found = 1; ok = $1 >= 99 } END { exit !(found && ok) }'
}

ok "all that runs is recorded, and nothing is lost" recorded
ok "it is read, and takes less than a GiB" read_all
ok "99 of 100 stacks are whole" whole
done_testing
