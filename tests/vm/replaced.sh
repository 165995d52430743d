#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A library that takes the name, and then the inode number, of another one on ext4 never gets its table.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

modprobe --quiet loop
grep -q ' loop$' /proc/devices || skip_all "this kernel has no loop devices"

# Without a journal, a number is not used again for minutes.
mount_ext4() {
	mkdir "$SCRATCH/ext4" &&
		truncate -s 32M "$SCRATCH/image" &&
		mkfs.ext4 -q -O has_journal "$SCRATCH/image" &&
		mount -o loop "$SCRATCH/image" "$SCRATCH/ext4"
}

replaced() {
	"$BUILT/source/tests/ioctl/replaced" "$SCRATCH/ext4" "$BUILT"/source/tests/soak/.libs/variant[0-5].so | tee "$SCRATCH/said"
}

ok "a file system is made and mounted" mount_ext4
ok "each stack is right, whichever file had the number before" replaced
tail -n 1 "$SCRATCH/said"
ok "nothing is left" nothing_left
ok "the file system is not in use any more" umount "$SCRATCH/ext4"
done_testing
