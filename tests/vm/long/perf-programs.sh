#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Ten programs under `perf record -a` and bpftrace: which share of their stacks ends where programs start, with kunwind and without.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf-shares
. "$TOP/tests/vm/lib/perf-shares"

cd "$SCRATCH" || exit
export HOME=$SCRATCH GIT_CONFIG_NOSYSTEM=1
# Chromium lies on a disk of its own.
libraries=/mnt/usr/lib/x86_64-linux-gnu
ok "there is a disk with chromium" mount -o ro /dev/vdb /mnt
postgres=$(echo /usr/lib/postgresql/*/bin)
chown tracer .
setpriv --reuid=tracer --regid=tracer --init-groups "$postgres/initdb" --no-sync -D data >initdb.log
{
	for ((i = 0; i < 40; i++)); do
		echo "int f$i(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % ($i + 1) ? i : s / 3; return s; }"
	done
} >large.c
sql='create table t (a int, b text); create index i on t (b);
	insert into t select n, md5(n::text) from generate_series(1, 20000) n;
	select b, count(*) from t where a % 7 = 1 group by b order by 1 desc limit 3; drop table t;'

declare -A programs=(
	[python3]='python3 -S "$TOP/tests/subjects/deep.py" map 0.5'
	[perl]='perl -e '\''my %h; for my $i (1..60000) { $h{$i % 997} .= chr(65 + $i % 26) } print scalar grep { /A.*B/ } sort values %h'\'
	[git]='rm -rf .git; git init -q . && git -c user.name=x -c user.email=x@localhost commit -qm one --allow-empty && git add large.c initdb.log && git repack -adq; git log -p; ! git diff --no-index --stat large.c initdb.log'
	[gcc]='gcc -O2 -c -o large.o large.c'
	[node]='node -e "let a = []; for (let i = 0; i < 100000; i++) a.push(String(i * 7919 % 99991)); console.log(JSON.stringify(a.sort()).length)"'
	[chromium]='LD_LIBRARY_PATH=$libraries:$libraries/pulseaudio timeout 200 /mnt/usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu --log-level=3 --dump-dom about:blank'
	[sqlite3]='sqlite3 :memory: "create table t (a, b); create index i on t (b); with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, i * 7919 % 101 from n; select b, count(*), sum(a) from t group by b order by 2 desc limit 5"'
	[postgres]='echo "$sql" | tr -s "\n\t" "  " | setpriv --reuid=tracer --regid=tracer --init-groups "$postgres/postgres" --single -D data postgres'
	[redis]='redis-server --save "" --port 0 --unixsocket "$PWD/redis" --daemonize no >redis.log & for i in {1..50}; do redis-cli -s "$PWD/redis" ping && break; sleep 0.2; done
		redis-benchmark -s "$PWD/redis" -n 2000 -c 4 -q -t set,lpush,lrange_100; redis-cli -s "$PWD/redis" shutdown nosave; wait'
	[ffmpeg]='ffmpeg -v error -threads 2 -f lavfi -i testsrc=duration=1:size=320x240:rate=5 -f lavfi -i sine=duration=1 -c:v mpeg4 -c:a aac -y out.mkv'
)
export TOP libraries postgres sql

names=(python3 perl git gcc node chromium sqlite3 postgres redis ffmpeg)
shares 99 "${names[@]}"
shares_by_bpftrace 99 "${names[@]}"
umount /mnt
done_testing
