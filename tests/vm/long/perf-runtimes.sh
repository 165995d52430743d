#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Ten runtimes under `perf record -a`, most of which make code that no file has: which share of their stacks ends where programs
# start, with kunwind and without.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf-shares
. "$TOP/tests/vm/lib/perf-shares"

cd "$SCRATCH" || exit
export HOME=$SCRATCH GOCACHE=$SCRATCH/go GO111MODULE=off
work=$TOP/tests/steps/subjects
cp "$work"/{work.ml,work-ml.c,effects.ml,busy.erl} "$TOP/tests/subjects/Work.java" .
mkdir files
for ((i = 0; i < 60; i++)); do
	seq "$i" >files/$i
done
for ((i = 0; i < 4; i++)); do
	echo "func f$i(n int) int { if n < 2 { return n }; return f$(((i + 1) % 4))(n - 1) + f$i(n - 2) }"
done | cat <(echo 'package main') - <(echo 'func main() { c := make(chan int); for i := 0; i < 4; i++ { go func() { c <- f0(32) }() }; for i := 0; i < 4; i++ { <-c } }') >fib.go
go build -o fib fib.go && musl-gcc -O2 -o work-musl "$TOP/tests/subjects/work-musl.c" && erlc busy.erl && javac Work.java &&
	ocamlopt -o ocaml-effects effects.ml || exit

declare -A programs=(
	[node]='node -e "let f = n => n < 2 ? n : f(n - 1) + f(n - 2); let a = []; for (let i = 0; i < 9; i++) a.push(f(27)); console.log(a.sort((x, y) => x - y).length)"'
	[java]='java -Xshare:auto -XX:+UseSerialGC -XX:+PreserveFramePointer Work'
	[python3-perf]='python3 -X perf -S "$TOP/tests/subjects/deep.py" map 0.5'
	[lli]='lli "$TOP/tests/subjects/fib.ll"'
	[go]='./fib'
	[erlang]='timeout 20 erl +JPperf map +JPperf no_fp +S 2:2 -noshell -s busy start; (($? == 124))'
	[erlang-fp]='timeout 20 erl +JPperf true +S 2:2 -noshell -s busy start; (($? == 124))'
	[musl]='for i in 1 2 3 4 5; do ./work-musl || exit; done'
	[ruby]='ruby --disable-gems -e "def f(n) n < 2 ? n : f(n - 1) + f(n - 2) end; e = Enumerator.new { |y| 3.times { y << f(19) } }; p e.next + e.next; p (1..20000).map { |i| (i * 7919 % 9973).to_s }.sort.uniq.size"'
	[luajit]='luajit "$work/work.lua"'
	[ocaml]='for i in 1 2 3; do ./ocaml-effects || exit; done'
)
# shellcheck disable=SC2034
hz=([erlang]=149 [erlang-fp]=49)
export TOP work
shares 95 node java python3-perf lli go erlang erlang-fp musl ruby luajit ocaml
done_testing
