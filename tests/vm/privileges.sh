#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What a user may see and make the kernel do: Documentation/security.md.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$SCRATCH"

install -m 644 "$TOP/tests/subjects/ask.py" "$SCRATCH"

ok "a user sees his own stack" says "stop 1, frames" "${nobody[@]}" python3 -S "$SCRATCH/ask.py" own
ok "also in a user namespace" says "stop 1, frames" "${nobody[@]}" unshare --user --map-root-user python3 -S "$SCRATCH/ask.py" own
ok "the device that a child inherits does not show the child" says "65534 EXDEV" \
	"${nobody[@]}" python3 -S "$SCRATCH/ask.py" hand-over python3
mkdir -p /run/privileges
install -m 4755 "$(readlink -f /usr/bin/python3)" /run/privileges/python3
ok "nor a set-user-ID program" says "0 EXDEV" "${nobody[@]}" python3 -S "$SCRATCH/ask.py" hand-over /run/privileges/python3
rm -r /run/privileges

# shared: a guest's root writes into build/guest, and nowhere else on the machine that the guest runs on.
shared() {
	local folder=$TOP/build/guest/privileges each
	mkdir "$folder" && rmdir "$folder" || return
	mount -o remount,rw "$TOP" 2>/dev/null
	for each in "$TOP" "$TOP/build" "$TOP/build/log" "$BUILT"; do
		if mkdir "$each/privileges"; then
			echo "the guest wrote into $each"
			return 1
		fi
	done
	mount -o remount,ro "$TOP"
}
ok "the guest writes into build/guest alone" shared

# plain: outside, a set-user-ID program, a device and a link that a guest's root makes are ordinary files. Without what is mounted in it, the
# repository is what the machine outside has.
plain() {
	local folder=build/guest/plain outside=/run/plain each
	# That of a run before, which failed.
	rm -rf -- "${TOP:?}/$folder"
	mkdir "$TOP/$folder" "$outside" && mount --bind "$TOP" "$outside" && install -m 4755 /bin/true "$TOP/$folder/program" &&
		mknod -m 666 "$TOP/$folder/device" b 8 0 && ln -s /etc "$TOP/$folder/link" && sync || return
	[[ -u $TOP/$folder/program && -b $TOP/$folder/device && -L $TOP/$folder/link ]] || return
	for each in program device link; do
		[[ $(stat -c "%F %a" "$outside/$folder/$each") == regular\ *file\ 600 ]] || return
	done
	umount "$outside" && rm -r "${TOP:?}/$folder" "$outside"
}
ok "what it makes there is an ordinary file outside" plain

writable() {
	find "$figures" /sys/module/kunwind/parameters -type f -perm /222 | grep .
}
ok "no figure and no parameter can be written" fails writable
ok "not by root either" fails bash -c "echo 1 >$figures/walks"
# Which hook is missing is no figure.
readable() {
	"${nobody[@]}" find "$figures" -type f ! -name missing -readable | grep .
}
ok "a user reads no figure" fails readable
ok "root reads them" [ -r "$figures/walks" ]
ok "a user without the group tracing begins no session" fails setpriv --reuid nobody-else --regid nobody-else --clear-groups \
	env HOME="$SCRATCH" timeout 20 lttng list --kernel
ok "a user cannot load or remove the module" fails "${nobody[@]}" modprobe -r kunwind-lttng

modprobe kunwind-test
ok "a user does not see what a process becomes that starts a program meanwhile" "$BUILT/source/tests/ioctl/handover" "$figures/spaces"
ok "a kernel module sees any thread" "$BUILT/source/tests/ioctl/in-kernel"
modprobe -r kunwind-test

# Stack pointers into the kernel, kernel addresses as return addresses, and everything else that hostile does.
install -m 755 -t "$SCRATCH" "$BUILT/hostile" "$BUILT/hostile-lib.so"
mkdir -m 777 "$SCRATCH/folder"
"$TOP/vm/record" "$SCRATCH/trace" -- "${nobody[@]}" bash -c '
	for name in $("$0/hostile" --list); do
		"$0/hostile" "$0/hostile-lib.so" "$0/folder" "$name"
	done' "$SCRATCH" >"$SCRATCH/said" 2>&1 </dev/null
babeltrace2 "$SCRATCH/trace" >"$SCRATCH/text"
# Only frames: arguments of system calls may be anything.
grep -oE 'callstack_user_unwind = \[[^]]*( [^]]*\])*' "$SCRATCH/text" |
	grep -oE '\[[0-9]+\] = 0x[0-9A-F]+' | sed 's/.*0x//' >"$SCRATCH/frames"
echo "# $(wc -l <"$SCRATCH/frames") frames"
ok "there are frames" [ "$(wc -l <"$SCRATCH/frames")" -gt 1000 ]
# 47 bits are a program's; all ones are LTTng's mark.
ok "no frame is a kernel address" fails grep -vE '^([0-7]?[0-9A-F]{1,11}|F{16})$' "$SCRATCH/frames"
ok "the kernel log has no address of the module" fails sh -c "dmesg | grep -i kunwind | grep -E 'ffff[0-9a-f]{12}'"
done_testing
