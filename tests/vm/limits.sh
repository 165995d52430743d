#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Memory: the budget of tables and a user's share of it, the shrinker.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

install -m 644 "$TOP/tests/subjects/replace-files.py" "$SCRATCH"
for number in {1..16}; do
	cp -- "$crypto" "$SCRATCH/$number.so"
done
for number in {1..100}; do
	cp -- "$small" "$SCRATCH/$number.small"
done

# A budget of 2 MiB, which one user wants to fill.
ok "kunwind takes a budget of 2 MiB" reload table_budget_mb=2
exec {device}</dev/kunwind
ok "a user maps many files" begin_mapping many "${nobody[@]}" python3 -S "$map" "$SCRATCH"/*.so
echo "# $(figure tables) tables, $(figure table_bytes) bytes, $(figure table_refusals) refused"
ok "some of them were refused" [ "$(figure table_refusals)" -gt 0 ]
ok "the user has half of the budget" [ "$(figure table_bytes)" -gt $((800 << 10)) ]
ok "and no more" [ "$(figure table_bytes)" -lt $((1400 << 10)) ]
ok "others' stacks are whole meanwhile" "$BUILT/source/tests/soak/storm" spawn 1
ok "another user maps many files, too" begin_mapping more "${another[@]}" python3 -S "$map" "$SCRATCH"/*.small
echo "# $(figure tables) tables, $(figure table_bytes) bytes, $(figure table_refusals) refused"
ok "he has a quarter" [ "$(figure table_bytes)" -gt $((1400 << 10)) ]
ok "together they leave some of the budget" [ "$(figure table_bytes)" -lt $((1800 << 10)) ]

# Each mapping that is replaced is an event; hooks allocate nothing, however many there are. The two users leave no room for their tables.
replaced() {
	local said
	said=$("${nobody[@]}" python3 -S "$SCRATCH/replace-files.py" "$@" 2000 "$SCRATCH"/{1,2}.so 8<"$figures/maps" 9<"$figures/pending") &&
		read -r -d "" most queued later < <(echo "$said" && printf '\0')
}
refused=$(figure table_refusals)
compiled=$(figure table_failures)
ok "2,000 mappings are replaced at once" replaced
echo "# at most $most maps meanwhile, $later later; $queued tasks were to catch up"
ok "no map is copied for it" [ "$most" -lt 8 ]
ok "and their task is told once" [ "$queued" -gt 0 -a "$queued" -lt 8 ]
ok "one mapping is replaced page by page, at once" replaced --one
echo "# at most $most maps meanwhile, $later later; $queued tasks were to catch up"
ok "no map is copied for that either" [ "$most" -lt 8 ]
echo "# $(($(figure table_refusals) - refused)) refused, $(($(figure table_failures) - compiled)) compiled"
ok "their tables were refused" [ "$(figure table_refusals)" -gt $((refused + 2000)) ]
ok "after a compilation each" [ "$(figure table_failures)" -lt $((compiled + 8)) ]

end_mapping

# What nobody maps any more goes first, when memory is wanted.
before=$(figure table_bytes)
evicted=$(figure table_evictions)
ok "the shrinker evicts what nobody maps" evict_until exceeds table_evictions "$evicted"
echo "# $before bytes, $(figure table_bytes) after the shrinker"
ok "and its memory is free" [ "$(figure table_bytes)" -lt "$before" ]
exec {device}<&-

ok "nothing is left" nothing_left
ok "kunwind takes its own budget again" reload
modprobe kunwind-lttng
done_testing
