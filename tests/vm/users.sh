#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Who is one user, and has one share of the budget: all IDs of a user's namespace, all of a container.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

for number in {1..80}; do
	cp -- "$small" "$SCRATCH/$number.small"
done

# map_as NAME COMMAND...: somebody maps more files than fit.
map_as() {
	local refused
	refused=$(figure table_refusals)
	begin_mapping "$@" python3 -S "$map" "$SCRATCH"/*.small && (($(figure table_refusals) > refused))
}

# has_half: with the tables of who is root. Two who share nothing would have three quarters.
has_half() {
	echo "$(figure tables) tables, $(figure table_bytes) bytes"
	(($(figure table_bytes) > 400 << 10 && $(figure table_bytes) < 620 << 10))
}

show_tables() {
	echo "# $(figure tables) tables, $(figure table_bytes) bytes, $(figure table_refusals) refused"
}

# give_ids MAP: what newuidmap does, for $holder, whose namespace is new. That of Debian 12 refuses root what /etc/subuid does not allow.
outside=$(readlink /proc/self/ns/user)
give_ids() {
	local round
	for ((round = 0; round < 100; round++)); do
		[[ $(readlink "/proc/$holder/ns/user") == "$outside" ]] || break
		sleep 0.1
	done
	# With one write: a shell makes one of each line.
	cat >"/proc/$holder/uid_map" <<<"$1" && cat >"/proc/$holder/gid_map" <<<"$1"
}
in_namespace() {
	echo nsenter --target "$holder" --user --setuid "$1" --setgid "$1"
}

ok "kunwind takes a budget of 1 MiB" reload table_budget_mb=1
exec {device}</dev/kunwind
"${nobody[@]}" unshare --user sleep 1000 &
holder=$!
ok "a user makes a namespace, with many IDs" give_ids $'0 65534 1\n1 100000 1000'
read -ra first < <(in_namespace 1)
read -ra second < <(in_namespace 2)
ok "one of its IDs maps many files" map_as first "${first[@]}"
show_tables
ok "it has half of the budget" has_half
ok "another ID, in a namespace of its own in there, maps many files" map_as second "${second[@]}" unshare --user --map-root-user
ok "so does the user himself" map_as himself "${nobody[@]}"
show_tables
ok "together they have half of the budget" has_half
ok "though they are three users to all others" [ "$(ps -o ruid= -p "$(pgrep -d, -f "$map")" | sort -u | wc -l)" = 3 ]
kill "$holder"
end_mapping
exec {device}<&-

# Who manages containers is root, but who is in them is not.
ok "kunwind takes a budget of 1 MiB again" reload table_budget_mb=1
exec {device}</dev/kunwind
unshare --user sleep 1000 &
holder=$!
ok "root makes a container, with many IDs" give_ids '0 100000 1000'
read -ra first < <(in_namespace 0)
read -ra second < <(in_namespace 5)
ok "it maps many files" map_as contained "${first[@]}"
show_tables
ok "it has half of the budget" has_half
ok "another ID of it maps many files" map_as other "${second[@]}"
show_tables
ok "together they have half of the budget" has_half
kill "$holder"
end_mapping
exec {device}<&-

# map_fit NAME FIRST LAST COMMAND...: somebody maps these files, and all fit.
map_fit() {
	local refused files name=$1
	refused=$(figure table_refusals)
	mapfile -t files < <(seq -f "$SCRATCH/%g.small" "$2" "$3")
	shift 3
	begin_mapping "$name" "$@" python3 -S "$map" "${files[@]}" && (($(figure table_refusals) == refused))
}

# end_mine PROCESS: which has mapped the files of that name. Its tables are let go by a worker, after a grace period of RCU.
end_mine() {
	local opened=${mapping[mine]}
	exec {opened}>&-
	unset 'mapping[mine]'
	wait "$1" && sleep 2
}

# What one user has mapped first, and only another one still maps.
ok "kunwind takes a budget of 2 MiB" reload table_budget_mb=2
exec {device}</dev/kunwind
ok "a user maps files" map_fit mine 1 32 "${nobody[@]}"
process=$!
show_tables
ok "another one maps them, too" map_fit theirs 1 32 "${another[@]}"
show_tables
ok "the first one ends" end_mine "$process"
show_tables
ok "he can map others, as he pays for no files of the second" map_fit others 41 72 "${nobody[@]}"
show_tables
end_mapping
exec {device}<&-
ok "nothing is left" nothing_left
ok "kunwind takes its own budget again" reload
modprobe kunwind-lttng
done_testing
