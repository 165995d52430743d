#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Memory: the budget and a user's share of it, the shrinker, the memory cgroup that pays.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

map=$TOP/tests/subjects/map-files.py
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
another=(setpriv --reuid 65533 --regid 65533 --clear-groups)
large=$(find /usr/lib -name '*.so*' -type f -printf '%s %p\n' | sort -rn | sed -n '1s/^[0-9]* //p')
crypto=$(find /usr/lib -name 'libcrypto.so.3')
small=$(find /usr/lib -name 'liblzma.so.5')

# reload OPTION...: kunwind.ko anew.
reload() {
	modprobe -r kunwind-lttng kunwind && modprobe kunwind "$@"
}

figure() {
	echo "$(<"$figures/$1")"
}

# begin_mapping NAME COMMAND...: it maps files, says so, and waits for the end of its input.
begin_mapping() {
	local name=$1 round
	shift
	mkfifo "$SCRATCH/$name"
	"$@" <"$SCRATCH/$name" >"$SCRATCH/$name.said" 2>&1 &
	exec {mapping}>"$SCRATCH/$name"
	for ((round = 0; round < 600; round++)); do
		grep -q mapped "$SCRATCH/$name.said" && return
		sleep 0.1
	done
	cat "$SCRATCH/$name.said"
	return 1
}

end_mapping() {
	exec {mapping}>&-
	wait $!
}

chmod 755 "$SCRATCH"
install -m 644 "$map" "$TOP/tests/subjects/replace-files.py" "$SCRATCH"
for number in {1..16}; do
	cp -- "$crypto" "$SCRATCH/$number.so"
done
for number in {1..100}; do
	cp -- "$small" "$SCRATCH/$number.small"
done

# A budget of 1 MiB, which one user wants to fill.
ok "kunwind takes a budget of 1 MiB" reload table_budget_mb=1
exec {device}</dev/kunwind
ok "a user maps many files" begin_mapping many "${nobody[@]}" python3 -S "$SCRATCH/map-files.py" "$SCRATCH"/*.so
echo "# $(figure tables) tables, $(figure table_bytes) bytes, $(figure table_refusals) refused"
ok "some of them were refused" [ "$(figure table_refusals)" -gt 0 ]
ok "the user has half of the budget and no more" [ "$(figure table_bytes)" -lt $((700 << 10)) ]
ok "others' stacks are whole meanwhile" "$BUILT/source/tests/soak/storm" spawn 1
first=$mapping
ok "another user maps many files, too" begin_mapping more "${another[@]}" python3 -S "$SCRATCH/map-files.py" "$SCRATCH"/*.small
echo "# $(figure tables) tables, $(figure table_bytes) bytes, $(figure table_refusals) refused"
ok "together they leave some of the budget" [ "$(figure table_bytes)" -lt $((900 << 10)) ]
exec {mapping}>&- {first}>&-
wait

# Who manages containers is root, but who is in them is not.
contained=(unshare --user "--map-users=100000,0,1000" "--map-groups=100000,0,1000" --setuid 0 --setgid 0)
exec {device}<&-
ok "kunwind takes a budget of 1 MiB again" reload table_budget_mb=1
exec {device}</dev/kunwind
ok "a container that root has made maps many files" \
	begin_mapping contained "${contained[@]}" python3 -S "$SCRATCH/map-files.py" "$SCRATCH"/*.so
echo "# $(figure tables) tables, $(figure table_bytes) bytes, $(figure table_refusals) refused"
ok "it has half of the budget and no more" [ "$(figure table_bytes)" -lt $((700 << 10)) ]
end_mapping

# Each mapping that is replaced has its snapshot copied, and the copies stay until the system call is over.
replaced() {
	local said
	said=$("${nobody[@]}" python3 -S "$SCRATCH/replace-files.py" "$@" 2000 "$SCRATCH"/{1,2}.so) &&
		read -r -d "" at_once queued later < <(echo "$said" && printf '\0')
}
ok "2,000 mappings are replaced at once" replaced
echo "# $at_once maps behind them, $later later; $queued tasks were to catch up"
ok "and not copied 2,000 times" [ "$at_once" -lt 100 ]
ok "nor is their task told 2,000 times" [ "$queued" -gt 0 -a "$queued" -lt 20 ]
# Its copies are small, so that there may be 2,000; each waited for the one before to be freed.
ok "one mapping is replaced page by page, at once" replaced --one
echo "# $at_once maps behind it, $later later; $queued tasks were to catch up"
ok "and its copies go together" [ "$later" -lt 100 ]

# What nobody maps any more goes first, when memory is wanted.
before=$(figure table_bytes)
evicted=$(figure table_evictions)
echo 2 >/proc/sys/vm/drop_caches
echo "# $before bytes, $(figure table_bytes) after the shrinker"
ok "the shrinker evicts what nobody maps" [ "$(figure table_evictions)" -gt "$evicted" ]
ok "and its memory is free" [ "$(figure table_bytes)" -lt "$before" ]
exec {device}<&-

# The cgroup of the process pays.
ok "kunwind takes its own budget again" reload
mkdir "$SCRATCH/cgroup"
mount -t cgroup2 none "$SCRATCH/cgroup"
echo +memory >"$SCRATCH/cgroup/cgroup.subtree_control"
mkdir "$SCRATCH/cgroup/payer" "$SCRATCH/cgroup/poor"

# in_cgroup NAME COMMAND...
in_cgroup() {
	echo "$BASHPID" >"$SCRATCH/cgroup/$1/cgroup.procs"
	shift
	exec "$@"
}

kernel_memory() {
	sed -n 's/^kernel //p' "$SCRATCH/cgroup/$1/memory.stat"
}

ok "a process without tables begins" begin_mapping without in_cgroup payer python3 -S "$SCRATCH/map-files.py" --no-device "$large"
without=$(kernel_memory payer)
end_mapping
ok "a process with a large file's table begins" begin_mapping with in_cgroup payer python3 -S "$SCRATCH/map-files.py" "$large"
with=$(kernel_memory payer)
bytes=$(figure table_bytes)
echo "# $large: kernel memory of the cgroup: $without bytes without its table, $with with it; tables have $bytes"
ok "its cgroup is charged with it" [ $((with - without)) -gt $((bytes * 9 / 10)) ]
end_mapping

echo 24M >"$SCRATCH/cgroup/poor/memory.max"
ok "nothing has a table any more" nothing_left
ok "a process whose cgroup has no room for the table goes on without" \
	begin_mapping poor in_cgroup poor python3 -S "$SCRATCH/map-files.py" "$large"
ok "no process was killed for it" grep -qx 'oom_kill 0' "$SCRATCH/cgroup/poor/memory.events"
ok "the table could not be made" [ "$(figure allocation_failures)" -gt 0 ]
end_mapping
umount "$SCRATCH/cgroup"
ok "nothing is left" nothing_left
modprobe kunwind-lttng
done_testing
