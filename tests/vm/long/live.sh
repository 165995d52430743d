#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng's stacks of real programs are those of `strace -k` and eu-stack: 10,000 system calls and more.
set -uo pipefail
# shellcheck source=tests/vm/lib/live
. "$TOP/tests/vm/lib/live"
# shellcheck source=tests/vm/lib/live-programs
. "$TOP/tests/vm/lib/live-programs"

prepare || exit
ordinary_programs

# Programs whose stacks others find hard: interpreters, coroutines, code without tables, code that is made when it runs.
work=$TOP/tests/steps/subjects
cp "$work"/{work.ml,work-ml.c,effects.ml} "$TOP/tests/subjects/Work.java" .
ocamlopt -o ocaml-native work-ml.c work.ml
ocamlc -custom -o ocaml-bytecode work-ml.c work.ml
ocamlopt -o ocaml-effects effects.ml
javac Work.java
chown tracer .
postgres=$(echo /usr/lib/postgresql/*/bin)
setpriv --reuid=tracer --regid=tracer --init-groups "$postgres/initdb" --no-sync -D data >initdb.log
sql='create table t (a int, b text); create index i on t (b);
	insert into t select n, md5(n::text) from generate_series(1, 500) n;
	select b, count(*) from t where a % 7 = 1 group by b order by 1 desc limit 3;
	do $$ begin perform 1 / 0; exception when division_by_zero then raise notice '"'caught'"'; end $$;'
live sqlite3 sqlite3 data.db 'create table t (a, b); create index i on t (b);
	with recursive n (i) as (select 1 union all select i + 1 from n where i < 500) insert into t select i, i * 7919 % 101 from n;
	select b, count(*), sum(a) from t group by b order by 2 desc limit 5; delete from t where a % 3; vacuum;'
live ruby ruby --disable-gems -e '
	fibers = 3.times.map { |i| Fiber.new { 5.times { |j| File.read("files/#{i}"); Fiber.yield j } } }
	4.times { fibers.each(&:resume) }
	puts [3, 1, 2].sort_by { |x| File.size("files/#{x}") }.inspect
	lines = Enumerator.new { |y| 3.times { |i| y << File.size("files/#{i}") } }
	puts lines.next + lines.next
	begin; File.read("nothing"); rescue => e; puts e; end
	Thread.new { system "true" }.join; "a1b2".gsub(/\d/) { |x| File.exist?(x) ? "" : x }'
live php php -n -r '
	function deep($n) { return $n ? deep($n - 1) + 1 : strlen(file_get_contents("files/1")); }
	$names = glob("files/*"); usort($names, fn($a, $b) => filesize($a) <=> filesize($b)); echo deep(5);
	$fiber = new Fiber(function () { foreach ([2, 3] as $i) Fiber::suspend(filesize("files/$i")); });
	$fiber->start(); $fiber->resume();
	try { new DateTime("nonsense"); } catch (Exception $e) { echo $e->getMessage(); }
	echo preg_replace_callback("/[0-9]+/", fn($m) => file_exists($m[0]) ? 1 : 2, "1 a 2"), shell_exec("true");'
live redis sh -c 'redis-server --save "" --port 0 --unixsocket "$PWD/redis" --daemonize no >redis.log &
	for i in 1 2 3 4 5 6 7 8 9; do redis-cli -s "$PWD/redis" ping && break; sleep 1; done
	redis-benchmark -s "$PWD/redis" -n 100 -c 2 -q -t set,lpush,lrange_100
	redis-cli -s "$PWD/redis" eval "return redis.call(\"incr\", \"n\")" 0; redis-cli -s "$PWD/redis" shutdown nosave; wait'
live postgres sh -c 'echo "$2" | tr -s "\n\t" "  " | setpriv --reuid=tracer --regid=tracer --init-groups "$1/postgres" --single -D data postgres' \
	sh "$postgres" "$sql"
live ffmpeg ffmpeg -v error -threads 2 -f lavfi -i testsrc=duration=1:size=160x120:rate=5 -f lavfi -i sine=duration=1 \
	-c:v mpeg4 -c:a aac -y out.mkv
live ocaml-native ./ocaml-native
live ocaml-bytecode ./ocaml-bytecode
live ocaml-effects ./ocaml-effects
live_jit luajit luajit -e 'local ffi = require("ffi"); ffi.cdef("int getppid(void)")
	for i = 1, 100 do ffi.C.getppid() end; for i = 1, 20 do for line in io.lines("files/" .. i) do end end; dofile(arg[1])' "$work/work.lua"
live_jit node node -e 'const fs = require("fs"); let n = 0
	for (let i = 0; i < 200; i++) n += fs.statSync("files/" + i % 60).size
	fs.readFile("files/1", () => console.log([3, 1, 2].sort((a, b) => fs.existsSync("files/" + a) ? a - b : 0), n))
	require("child_process").execFileSync("true")'
live_jit java java -Xshare:auto -XX:+UseSerialGC Work
live_jit java-interpreted java -Xint -XX:+UseSerialGC Work
asleep asleep python3 "$TOP/tests/subjects/asleep.py"
live_sum 30000
done_testing
