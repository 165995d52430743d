#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The memory cgroup of the process pays, whether the process has its tables made itself, or an attaching tracer does. And a task that makes many
# does not keep its cgroup from being frozen.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

mkdir "$SCRATCH/cgroup"
mount -t cgroup2 none "$SCRATCH/cgroup"
echo +memory >"$SCRATCH/cgroup/cgroup.subtree_control"
mkdir "$SCRATCH/cgroup"/{payer,tracer,poor}

# in_cgroup NAME COMMAND...
in_cgroup() {
	echo "$BASHPID" >"$SCRATCH/cgroup/$1/cgroup.procs"
	shift
	exec "$@"
}

# memory WHAT NAME: of a cgroup.
memory() {
	sed -n "s/^$1 //p" "$SCRATCH/cgroup/$2/memory.stat"
}

# attach 1|0 [NAME]: a tracer does, or ends, in that cgroup.
attach() {
	(in_cgroup "${2:-tracer}" sh -c "echo $1 >/sys/module/kunwind_test/parameters/attach")
}

ok "a process without tables begins" begin_mapping without in_cgroup payer python3 -S "$map" --no-device "$large"
without=$(memory kernel payer)
end_mapping
ok "a process with a large file's table begins" begin_mapping with in_cgroup payer python3 -S "$map" "$large"
with=$(memory kernel payer)
bytes=$(figure table_bytes)
echo "# $large: kernel memory of the cgroup: $without bytes without its table, $with with it; tables have $bytes"
ok "its cgroup is charged with it" [ $((with - without)) -gt $((bytes * 9 / 10)) ]
end_mapping

# A tracer has the same tables made.
ok "nothing has a table any more" nothing_left
# On a slow machine the largest file's table may be the last one that its 10 s allow, or the next.
ok "a tracer may take its time to attach" reload attach_work_ms=120000
modprobe kunwind-test
ok "a process without tables begins again" begin_mapping without in_cgroup payer python3 -S "$map" --no-device "$large"
echo 1 >/proc/sys/vm/drop_caches
without=$(memory kernel payer)
files=$(memory file payer)
ok "a tracer attaches" attach 1
with=$(memory kernel payer)
files=$(($(memory file payer) - files))
tracer=$(memory kernel tracer)
bytes=$(figure table_bytes)
end_mapping
# What only that process had goes; what others map, too, one of them pays for.
held=$bytes
gone() {
	bytes=$((held - $(figure table_bytes)))
	((bytes > 1000000))
}
ok "the process had tables" evict_until gone
echo "# the process's cgroup has $((with - without)) bytes of kernel memory more, the tracer's $tracer; the process's tables had $bytes"
echo "# in the page cache the process's cgroup has $files bytes more, the tracer's $(memory file tracer)"
ok "its cgroup is charged with them" [ $((with - without)) -gt $((bytes * 9 / 10)) ]
ok "the tracer's is not" [ "$tracer" -lt $((bytes / 4)) ]
ok "the tracer's is charged with what was read of files" [ "$(memory file tracer)" -gt $((4 * files)) -a "$(memory file tracer)" -gt 1000000 ]
ok "the tracer ends" attach 0

# Nor does it matter for a cgroup without room who has the table made.
echo 16M >"$SCRATCH/cgroup/poor/memory.max"
no_table() {
	(($(figure allocation_failures) > failures)) &&
		grep -qx 'oom_kill 0' "$SCRATCH/cgroup/poor/memory.events"
}

ok "nothing has a table any more, again" nothing_left
failures=$(figure allocation_failures)
ok "a process whose cgroup has no room begins, without tables" \
	begin_mapping poor in_cgroup poor python3 -S "$map" --no-device "$large"
ok "a tracer attaches again" attach 1
ok "no table could be made, and no process was killed for it" no_table
ok "the tracer ends again" attach 0
end_mapping
ok "nothing has a table any more, once more" nothing_left
failures=$(figure allocation_failures)
ok "such a process opens the device and goes on" begin_mapping poor in_cgroup poor python3 -S "$map" "$large"
ok "it has no table, and was not killed" no_table
end_mapping

# The list of a process's mappings is the tracer's, too: 56 bytes for each of 16,384 and more.
mkdir "$SCRATCH/cgroup"/{before,after}
# Python keeps a descriptor for each.
maps_often='import mmap, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
with open("/usr/bin/true", "rb") as true:
    m = [mmap.mmap(true.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC) for i in range(16500)]
print("mapped", flush=True)
sys.stdin.read()'

ok "a tracer attaches to few mappings" attach 1 before
ok "it ends" attach 0
ok "a process maps a file 16,500 times" begin_mapping often python3 -S -c "$maps_often"
ok "a tracer attaches to them" attach 1 after
before=$(<"$SCRATCH/cgroup/before/memory.peak")
after=$(<"$SCRATCH/cgroup/after/memory.peak")
echo "# the tracer's cgroup had $before bytes at most, and $after with the list"
ok "its cgroup is charged with the list" [ $((after - before)) -gt 3000000 ]
ok "that tracer ends, too" attach 0
end_mapping

# A file that is open for writing shares no table: each mapping has its own. A task that compiles many does not keep its cgroup from being frozen,
# nor, as the kernel asks for the same thing, a machine from being suspended.
cp -- "$large" "$SCRATCH/written.so"
maps_own="import mmap, os, sys
with open('$SCRATCH/written.so', 'r+b') as file:
    m = [mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC) for i in range(100)]
    print('mapped', flush=True)
    device = os.open('/dev/kunwind', os.O_RDONLY)
    print('opened', flush=True)
    sys.stdin.read()"
cold=$SCRATCH/cgroup/cold

# soon SECONDS CONDITION...: it holds before they are over.
soon() {
	local round
	for ((round = 0; round < 10 * $1; round++)); do
		! "${@:2}" || return 0
		sleep 0.1
	done
	return 1
}

freezes() {
	echo 1 >"$cold/cgroup.freeze" && soon 2 grep -qx 'frozen 1' "$cold/cgroup.events"
}

thaws() {
	echo 0 >"$cold/cgroup.freeze" && soon 60 grep -qx opened "$SCRATCH/cold.said"
}

mkdir "$cold"
builds=$(figure table_builds)
ok "a process maps a file 100 times that it may write" begin_mapping cold in_cgroup cold python3 -S -c "$maps_own"
ok "it compiles a table for each" soon 60 exceeds table_builds $((builds + 3))
ok "its cgroup is frozen at once" freezes
echo "# after $(($(figure table_builds) - builds)) tables"
ok "it was not ready" [ $(($(figure table_builds) - builds)) -lt 90 ]
ok "it goes on when it may" thaws
end_mapping
ok "nothing is left of it" nothing_left

# A table that several cgroups use is charged to none of them.
is_freed() {
	(($(memory kernel payer) - without < bytes / 10))
}

freed() {
	! soon 5 is_freed || return 0
	echo "$(memory kernel payer) bytes, $without without tables"
	return 1
}

# end_first: the first one of two that map.
end_first() {
	local opened=${mapping[first]}
	exec {opened}>&-
	unset "mapping[first]"
}

ok "nothing has a table before the next" nothing_left
without=$(memory kernel payer)
ok "a container maps a large file first" begin_mapping first in_cgroup payer python3 -S "$map" "$large"
bytes=$(figure table_bytes)
first=$(($(memory kernel payer) - without))
copies=$(figure table_copies)
ok "another one maps it, too" begin_mapping second in_cgroup tracer python3 -S "$map" "$large"
echo "# the first one pays $first bytes for tables of $bytes; $(($(figure table_copies) - copies)) were copied for the second one"
ok "the first one was charged with its tables" [ "$first" -gt $((bytes * 9 / 10)) ]
ok "end of the first one" end_first
ok "it pays nothing any more, while the other one goes on" freed
ok "which has its tables still" [ "$(figure table_bytes)" -gt $((bytes * 9 / 10)) ]
ok "and does not pay for what both had" [ "$(memory kernel tracer)" -lt $((bytes / 2)) ]
end_mapping
ok "nothing is left of both" nothing_left

# idle_tables: of what the container has mapped, and does not any more.
idle_tables() {
	local opened
	for number in {1..4}; do
		cp -- "$small" "$SCRATCH/$number.small"
	done
	begin_mapping idle in_cgroup payer python3 -S "$map" "$SCRATCH"/*.small || return
	opened=${mapping[idle]}
	exec {opened}>&-
	unset "mapping[idle]"
	wait $!
}

# Where there is room for one of these tables, and not for two.
rmmod kunwind-test
ok "kunwind takes a small budget" reload table_budget_mb=$((bytes * 3 / 2 >> 20))
ok "a container maps the large file once more" begin_mapping first in_cgroup payer python3 -S "$map" "$large"
ok "and smaller ones, for a moment" idle_tables
evicted="$(figure table_evictions) evicted, $(figure table_refusals) refused"
tables=$(figure tables)
ok "another one maps the large file once more" begin_mapping second in_cgroup tracer python3 -S "$map" "$large"
echo "# $tables tables of $(figure table_bytes) bytes, $evicted; then $(figure tables), $(figure table_evictions) evicted"
ok "no table went for a copy that does not fit" [ "$(figure table_evictions) evicted, $(figure table_refusals) refused" = "$evicted" ]
end_mapping
umount "$SCRATCH/cgroup"
ok "nothing is left" nothing_left
ok "kunwind takes its own parameters again" reload
modprobe kunwind-lttng
done_testing
