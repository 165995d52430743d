#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A library that takes the name, and then the inode number, of another one on ext4 never gets its table. Nor does one that replaces another in
# a memfd, or in a file that could be written when the table was made.
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

# A process maps a file that another descriptor may write, and maps it again when that is closed. The writer's second store moved no time.
cat >"$SCRATCH/written.py" <<'END'
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]

def times_of(path):
    status = os.stat(path)
    return status.st_mtime_ns, status.st_ctime_ns

def map_code(address, flags):
    at = libc.mmap(address, size, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE | flags, reader, 0)
    assert at != 2 ** 64 - 1, os.strerror(ctypes.get_errno())
    return at

device = os.open("/dev/kunwind", os.O_RDONLY)
reader = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(reader).st_size
for attempt in range(10):
    writer = os.open(sys.argv[1], os.O_RDWR)
    bytes = mmap.mmap(writer, size)
    bytes[size - 1] = 1
    at = map_code(None, 0)
    times = times_of(sys.argv[1])
    bytes[size - 1] = 2
    bytes.close()
    os.close(writer)
    # Or its page was written to the disk meanwhile, and the store was a page fault.
    if times_of(sys.argv[1]) == times:
        break
else:
    sys.exit("each store moved the times")
map_code(at, 0x10)  # MAP_FIXED
print(f"start=0x{at:x}")
END

is_told() {
	local tracing=/sys/kernel/tracing said
	cp -- "$BUILT/source/tests/soak/.libs/variant0.so" "$SCRATCH/ext4/written.so" &&
		echo 1 >"$tracing/events/kunwind/kunwind_unmap/enable" &&
		said=$(python3 -S "$SCRATCH/written.py" "$SCRATCH/ext4/written.so")
	local status=$?
	echo 0 >"$tracing/events/kunwind/kunwind_unmap/enable"
	((status == 0)) && grep "kunwind_unmap:.*$said" "$tracing/trace"
}

ok "a file system is made and mounted" mount_ext4
ok "each stack is right, whichever file had the number before" replaced
tail -n 1 "$SCRATCH/said"
ok "what was mapped while it could be written is not believed to be the same" is_told
ok "nothing is left" nothing_left
ok "the file system is not in use any more" umount "$SCRATCH/ext4"
done_testing
