#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Threads of one process that map code at the same time: none of it is missing, and none of their stacks is cut.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

# As many as a space has slots for (kmod/space.h).
THREADS=8
LONG=10
# Of so many stacks, none may be cut.
STACKS=1000

# tables_of OPTION...: $tables is how many there are when both threads have mapped what they map.
tables_of() {
	begin_mapping together python3 -S "$TOP/tests/subjects/map-together.py" "$@" "$SCRATCH/fuse" "$crypto" || return
	# Those that no snapshot has are gone by then.
	sleep 1
	tables=$(figure tables)
	end_mapping
}

# is_open_briefly: another user opens and closes the device, as the last consumer each time. Each close had waited half a second.
is_open_briefly() {
	"${another[@]}" python3 -S -c '
import os, time
begun = time.monotonic()
for _ in range(8):
    os.close(os.open("/dev/kunwind", os.O_RDONLY))
took = time.monotonic() - begun
print(f"# eight times in {took:.3f} s")
raise SystemExit(took > 2)'
}

# pends COUNT: so many tasks have work to do, soon.
pends() {
	local round
	for ((round = 0; round < 100; round++)); do
		(($(figure pending) != $1)) || return 0
		sleep 0.1
	done
	return 1
}

modprobe --quiet fuse
if [[ -e /dev/fuse ]]; then
	ok "a FUSE file system is mounted" mount_files
	ok "two threads map files, and one waits for the other's" tables_of
	together=$tables
	ok "the same, one after the other" tables_of --one-by-one
	echo "# $together tables, $tables one after the other"
	ok "there are as many tables" [ "$together" = "$tables" ]
	# "release" has come: a server of its own.
	ok "it is unmounted" umount "$SCRATCH/fuse"
	rmdir "$SCRATCH/fuse"
	ok "it is mounted again" mount_files
	ok "a process waits for a file, and has closed the device" \
		begin_mapping closed python3 -S "$TOP/tests/subjects/map-together.py" --close "$SCRATCH/fuse" "$crypto"
	ok "its work is pending" [ "$(figure pending)" -gt 0 ]
	ok "no other user waits for that" is_open_briefly
	ok "another process has mapped a file" begin_mapping late "${nobody[@]}" python3 -S "$map" --device-last "$SCRATCH/fuse/held-too"
	ok "it opens the device, and waits for the file" pends 2
	ok "no other user waits for that" is_open_briefly
	ok "nor for another device like that" timeout --signal=KILL 10 sh -c ': <>/dev/fuse'
	end_mapping
	ok "it is unmounted" umount "$SCRATCH/fuse"
fi

stops() {
	echo "$(<"$figures/stops/$1")"
}

session() {
	lttng create protect --snapshot --output="$SCRATCH/protect" &&
		lttng enable-channel --kernel --session=protect --overwrite --subbuf-size=256K --num-subbuf=4 protect &&
		lttng enable-event --kernel --session=protect --channel=protect --syscall mprotect &&
		lttng add-context --kernel --session=protect --channel=protect --type=callstack-user &&
		lttng start protect
}

# enough_stacks: rounds of $LONG s, until there are more than $STACKS. A debug kernel needs more than one.
enough_stacks() {
	local round
	for round in {1..6}; do
		echo "round $round"
		"$BUILT/protect" "$THREADS" "$LONG" || return
		(($(stops COMPLETE) - whole <= STACKS)) || break
	done
}

ok "a session with user callstacks begins" session
whole=$(stops COMPLETE)
cut=$(stops INCOMPLETE_MAP)
ok "$THREADS threads make code executable" enough_stacks
whole=$(($(stops COMPLETE) - whole))
cut=$(($(stops INCOMPLETE_MAP) - cut))
echo "# COMPLETE $whole, INCOMPLETE_MAP $cut"
ok "their stacks are whole" [ "$whole" -gt "$STACKS" ]
ok "none is cut" [ "$cut" = 0 ]
ok "the session ends" lttng destroy protect
ok "nothing is left" nothing_left
done_testing
