#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A script of bpftrace asks for whole stacks: the example does. bpftrace, of a version that can import C, is on a disk of its own.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/kfunc
. "$TOP/tests/vm/lib/kfunc"

ok "there is a disk with bpftrace" mount -o ro /dev/vdb /mnt
for folder in dev proc sys; do
	mount --rbind "/$folder" "/mnt/$folder"
done
mount -t tmpfs none /mnt/tmp
# bpftrace imports nothing from a folder that all may write to.
mount -t tmpfs -o mode=755 none /mnt/mnt
cp "$TOP"/tracing-integration/examples/{kunwind.bpf.c,whole-stacks.bt} /mnt/mnt
echo "# $(chroot /mnt bpftrace --version)"
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
asks chroot /mnt bpftrace -B line /mnt/whole-stacks.bt
ok "the module goes when bpftrace has gone" rmmod kunwind_tracing
umount -R /mnt
done_testing
