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
asleep asleep python3 "$TOP/tests/subjects/asleep.py"
live_sum 10000
done_testing
