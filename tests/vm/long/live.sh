#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng's stacks of real programs are those of `strace -k` and eu-stack: 10,000 system calls and more.
set -uo pipefail
# shellcheck source=tests/vm/lib/live
. "$TOP/tests/vm/lib/live"

cd "$SCRATCH" || exit
export HOME=$SCRATCH GIT_CONFIG_NOSYSTEM=1

# What the programs work on.
mkdir files
for ((i = 0; i < 60; i++)); do
	seq $((i * 7919 % 1000)) $((i * 7919 % 1000 + 50)) >files/$i
done
seq 140000 | awk '{ print $1 * 7919 % 99991 }' >numbers
cat >hello.c <<'END'
#include <stdio.h>
int main(void)
{
	return puts("hello") < 0;
}
END
{
	echo 'all: a b c d'
	for each in a b c d; do
		printf '%s:\n\t@sort files/1 >%s; echo %s\n' $each $each $each
	done
} >Makefile

live ls ls -l /usr/bin
live bash bash -c 'f() { (($1)) && f $(($1 - 1)) || echo $(cat files/1 | wc -l); }; f 9
	trap "x=hup" HUP; kill -HUP $$; while read -r x; do :; done <files/2; (exit 3) & wait; for x in files/*; do [[ -e $x ]]; done'
live python3 python3 "$TOP/tests/subjects/threads.py" 8 10
live perl perl -e '
	use File::Find; use POSIX; my @found; find(sub { push @found, -s $_ }, "files");
	$SIG{USR1} = sub { open my $f, "<", "/proc/uptime"; <$f> }; kill USR1 => $$;
	for (1..3) { if (my $pid = fork) { waitpid $pid, 0 } else { exec "true" } } print sort map { $_ * 2 } @found; print `date`;'
live git sh -c 'git init -q . && git config user.name x && git config user.email x@localhost && git add files &&
	git commit -qm one && git log --stat | cat && git -c pack.threads=2 repack -adq && git status --short && git grep -c 7'
live gzip sh -c 'gzip -c numbers | gzip -dc | cmp - numbers'
live xz sh -c 'xz -0 -T2 --block-size=200000 -c numbers | xz -T2 -dc | cmp - numbers'
live zstd zstd -q -T2 -B100KB -c numbers
live gdb gdb -nx -batch -ex 'info files' /bin/ls
live find find /usr/share/doc /usr/lib/python3 -maxdepth 2 -type f -newer /etc/hostname
live tar sh -c 'tar cf all.tar files numbers && tar tvf all.tar && tar xf all.tar -C /tmp files/1'
live sort sort --parallel=4 --buffer-size=1M -n numbers
live awk awk '{ sum += $1 } END { print sum; while (("ls files" | getline line) > 0) n++; print n; system("true") }' numbers
live make make -j4 all
live gcc gcc -O2 -o hello hello.c
live openssl sh -c 'openssl genpkey -algorithm ed25519 | openssl pkey -pubout; openssl dgst -sha256 numbers'

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
