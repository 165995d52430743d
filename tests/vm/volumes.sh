#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Files that look the same, on images mounted one after the other, in two subvolumes of btrfs, and on FAT: each has its own table.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

modprobe --quiet loop
[[ -e /dev/loop-control ]] || skip_all "this kernel has no loop devices"

# map_one FILE: a process maps it; $builds grows by the tables that are compiled for that.
builds=0
map_one() {
	local before
	before=$(figure table_builds)
	begin_mapping mapper python3 -S "$map" "$1" || return
	builds=$((builds + $(figure table_builds) - before))
	end_mapping
}

# The same size, other bytes.
cp -- "$small" "$SCRATCH/one.so"
cp -- "$small" "$SCRATCH/two.so"
printf x | dd of="$SCRATCH/two.so" bs=1 seek=$(($(stat -c %s "$small") - 1)) conv=notrunc status=none

# make_image NAME: an ext4 image with NAME.so as lib.so, whose inode says nothing of it.
make_image() {
	local field
	mkdir "$SCRATCH/$1"
	cp -- "$SCRATCH/$1.so" "$SCRATCH/$1/lib.so"
	mke2fs -q -t ext4 -d "$SCRATCH/$1" "$SCRATCH/$1.img" 4M || return
	for field in "ctime @1000000000" "ctime_extra 0" "mtime @1000000000" "mtime_extra 0" "generation 7"; do
		debugfs -w -R "set_inode_field /lib.so $field" "$SCRATCH/$1.img" || return
	done
}

# map_in NAME: of its image.
map_in() {
	mount -o loop,ro "$SCRATCH/$1.img" "$SCRATCH/mounted" &&
		stat -c '%i %s %y %z %d' "$SCRATCH/mounted/lib.so" >>"$SCRATCH/looks" &&
		map_one "$SCRATCH/mounted/lib.so" &&
		umount "$SCRATCH/mounted"
}

in_turns() {
	local round
	builds=0
	for round in {1..4}; do
		map_in one && map_in two || return
	done
}

mkdir "$SCRATCH/mounted"
# As long as it is open, kunwind keeps its tables.
exec {keeper}</dev/kunwind
ok "an image is made" make_image one
ok "another one is made" make_image two
ok "a file of something else is mapped, and all that its process needs" map_one "$SCRATCH/one.so"
ok "their files are mapped in turns, four times" in_turns
ok "they look the same" [ "$(sort -u "$SCRATCH/looks" | tee /dev/stderr | wc -l)" = 1 ]
echo "# $builds tables"
ok "each had a table of its own" [ "$builds" = 8 ]

# make_twins: a file in each subvolume, in the same tick.
make_twins() {
	python3 -S - "$SCRATCH/mounted" "$SCRATCH/one.so" "$SCRATCH/two.so" <<'END'
import os
import sys

folder, *sources = sys.argv[1:]
contents = [open(source, "rb").read() for source in sources]
for number in range(100):
    names = [f"{folder}/{volume}/{number}.so" for volume in "ab"]
    files = [os.open(name, os.O_WRONLY | os.O_CREAT, 0o755) for name in names]
    for file, content in zip(files, contents):
        os.write(file, content)
    for file in files:
        os.utime(file, ns=(10**18, 10**18))
    for file in files:
        os.close(file)
    one, two = (os.stat(name) for name in names)
    if one.st_ctime_ns == two.st_ctime_ns and one.st_ino == two.st_ino:
        for volume, name in zip("ab", names):
            os.symlink(name, f"{folder}/{volume}.so")
        sys.exit()
sys.exit("none of the pairs looks the same")
END
}

make_btrfs() {
	truncate -s 128M "$SCRATCH/btrfs.img" &&
		mkfs.btrfs -q "$SCRATCH/btrfs.img" &&
		mount -o loop "$SCRATCH/btrfs.img" "$SCRATCH/mounted" &&
		btrfs subvolume create "$SCRATCH/mounted/a" &&
		btrfs subvolume create "$SCRATCH/mounted/b"
}

map_twins() {
	builds=0
	map_one "$SCRATCH/mounted/a.so" && map_one "$SCRATCH/mounted/b.so" && map_one "$SCRATCH/mounted/a.so"
}

modprobe --quiet btrfs
if grep -qw btrfs /proc/filesystems; then
	ok "a file system of btrfs has two subvolumes" make_btrfs
	ok "each has a file that looks like the other's" make_twins
	ok "both are mapped, and the first one again" map_twins
	echo "# $builds tables"
	ok "each has a table of its own" [ "$builds" = 2 ]
	ok "it is unmounted" umount "$SCRATCH/mounted"
else
	skip "two subvolumes of btrfs" "this kernel has no btrfs"
fi

# On FAT, a file that is replaced where it is looks the same if it gets the same time: that sets both of its times.
make_fat() {
	python3 -S - "$SCRATCH/fat.img" <<'END'
import struct
import sys

# A floppy disk: two FATs of 9 sectors each, and the root directory.
boot = struct.pack("<3s8sHBHBHHBHHHII", b"\xeb\x3c\x90", b"kunwind ", 512, 1, 1, 2, 224, 2880, 0xf0, 9, 18, 2, 0, 0)
with open(sys.argv[1], "wb") as image:
    image.write(boot.ljust(510, b"\0") + b"\x55\xaa")
    for fat in range(2):
        image.write(b"\xf0\xff\xff".ljust(9 * 512, b"\0"))
    image.truncate(2880 * 512)
END
	mount -t vfat -o loop "$SCRATCH/fat.img" "$SCRATCH/mounted"
}

# map_on_fat NAME
map_on_fat() {
	cp -- "$SCRATCH/$1.so" "$SCRATCH/mounted/lib.so" &&
		touch -d @1000000000 "$SCRATCH/mounted/lib.so" &&
		stat -c '%i %s %y %z %d' "$SCRATCH/mounted/lib.so" >>"$SCRATCH/fat-looks" &&
		map_one "$SCRATCH/mounted/lib.so"
}

modprobe --quiet vfat
if grep -qw vfat /proc/filesystems; then
	builds=0
	ok "a FAT file system is made" make_fat
	ok "a file on it is mapped" map_on_fat one
	ok "it is written again, and mapped" map_on_fat two
	ok "it looks the same" [ "$(sort -u "$SCRATCH/fat-looks" | tee /dev/stderr | wc -l)" = 1 ]
	echo "# $builds tables"
	ok "each content has a table of its own" [ "$builds" = 2 ]
	ok "it is unmounted" umount "$SCRATCH/mounted"
else
	skip "a file on FAT" "this kernel has no FAT"
fi
exec {keeper}<&-
ok "nothing is left" nothing_left
done_testing
