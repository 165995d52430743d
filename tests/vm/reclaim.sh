#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A memory cgroup that is at its limit gets back what it pays for tables that no process uses, before the kernel has to kill a process for memory.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

group=$SCRATCH/cgroup/tables
limit_mb=24 wanted_mb=12

# Each time it has another identity, as if it were built anew.
cat >"$SCRATCH/rebuild.py" <<'EOF'
import mmap, os, sys

name, rounds, mib = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fd = os.open(name, os.O_RDONLY)
for i in range(rounds):
    os.utime(name, (i, i))
    mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
memory = bytearray(b"x") * (mib << 20)
EOF

# in_group COMMAND...: runs it there.
in_group() (
	echo "$BASHPID" >"$group/cgroup.procs"
	exec "$@"
)

cp "$(find /usr/lib -name libcrypto.so.3)" "$SCRATCH/library.so"
mkdir "$SCRATCH/cgroup"
mount -t cgroup2 none "$SCRATCH/cgroup"
echo +memory >"$SCRATCH/cgroup/cgroup.subtree_control"
mkdir "$group"
echo "${limit_mb}M" >"$group/memory.max"
modprobe kunwind-test
ok "there is a consumer" sh -c 'echo 1 >/sys/module/kunwind_test/parameters/attach'
builds=$(figure table_builds)
evictions=$(figure table_evictions)
failures=$(figure allocation_failures)
before=$(figure table_bytes)
in_group python3 -S "$SCRATCH/rebuild.py" "$SCRATCH/library.so" 1 0
each=$(($(figure table_bytes) - before))
rounds=$((2 * (limit_mb << 20) / each))
echo "# a table has $each bytes: $rounds of them"
ok "a process that maps twice as much as its cgroup may have goes on, and gets memory" \
	in_group python3 -S "$SCRATCH/rebuild.py" "$SCRATCH/library.so" "$rounds" "$wanted_mb"
echo "# $(($(figure table_builds) - builds)) tables built, $(($(figure table_evictions) - evictions)) evicted"
ok "nobody was killed" grep -qx 'oom_kill 0' "$group/memory.events"
ok "all tables were made" [ $(($(figure table_builds) - builds)) -ge "$rounds" ]
ok "no allocation failed" [ "$(figure allocation_failures)" = "$failures" ]
# What is charged to it is its parent's then.
ok "the cgroup is removed" rmdir "$group"
evictions=$(figure table_evictions)
ok "its tables can be evicted still" evict_until exceeds table_evictions "$evictions"
ok "the consumer goes" sh -c 'echo 0 >/sys/module/kunwind_test/parameters/attach'
modprobe -r kunwind-test
ok "nothing is left" nothing_left
umount "$SCRATCH/cgroup"
done_testing
