# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The job `test fred`: NMIs and system calls where CPUs enter the kernel by FRED. QEMU emulates no such CPU. Bochs does, since 3.1, if it is
# built so; Debian's package is not.

# fred_bochs_make STAMP
fred_bochs_make() {
	local out=$BUILD_DIR/bochs
	rm -rf -- "$out"
	cp -r -- "$SOURCES_DIR/bochs" "$out"
	(
		cd "$out" || exit
		./configure --enable-x86-64 --enable-cpu-level=6 --enable-smp --enable-fred --enable-avx --enable-evex --enable-cet \
			--enable-pci --enable-all-optimizations --disable-docbook --with-nogui
		make -j"$(nproc)"
	)
	finish "$out/bochs" "$SOURCES_DIR/bochs-fred" "$1"
	rm -rf -- "$out"
}

# fred_programs DIR: the guest's programs, without shared libraries: there are none.
fred_programs() {
	VM_BINDS=$(printf '%s\n' "$TOP_DIR:$TOP_DIR" "$1:$1") in_root bash -euc '
		build() {
			gcc -std=gnu11 -D_GNU_SOURCE -O2 -static -I"$0/tests" -I"$0/include/uapi" -o "$1/$2" "${@:3}"
		}
		build "$1" entry "$0/tests/ioctl/entry.c"
		build "$1" requests "$0/tests/ioctl/requests.c" "$0/tests/tap.c"
	' "$TOP_DIR" "$1"
}

# fred_disc DIR TURN: what the guest boots from, where a CPU's turn has so many instructions.
fred_disc() {
	local dir=$1 turn=$2 files=$1/files disc=$1/disc
	rm -rf -- "$dir"
	mkdir -p "$files"/{bin,dev,proc,sys} "$disc/isolinux"
	fred_programs "$files/bin"
	cp -- "$VM_ROOT/usr/bin/busybox" "$files/bin"
	cp -- "$TOP_DIR/tests/fred/init" "$MODULE_DIR"/updates/kunwind{,-test}.ko "$files"
	(cd "$files" && find . -print0 | cpio --quiet -0 -o -H newc) | gzip -1 >"$disc/initrd"
	cp -- "$VM_ROOT/boot/vmlinuz-$KERNEL_RELEASE" "$disc/vmlinuz"
	cp -- /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$disc/isolinux"
	# Without these, Linux waits for clocks of a real machine. The turn is for init.
	printf '%s\n' 'default kunwind' 'label kunwind' 'kernel /vmlinuz' \
		"append initrd=/initrd console=ttyS0 quiet nokaslr tsc=reliable clocksource=tsc no_timer_check lpj=10000000 turn=$turn" \
		>"$disc/isolinux/isolinux.cfg"
	xorriso -as mkisofs -quiet -o "$dir/disc.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat \
		-no-emul-boot -boot-load-size 4 -boot-info-table "$disc"
	sed "s/TURN/$turn/" "$TOP_DIR/tests/fred/bochsrc" >"$dir/bochsrc"
}

# fred_run DIR: what the guest says, in TAP, is shown.
fred_run() {
	(cd "$1" && timeout --kill-after 10 "$FRED_LIMIT" "$SOURCES_DIR/bochs-fred" -q -f bochsrc >out 2>&1) || true
	[[ -s $1/said ]] || { say "Bochs says:" && tail -n 5 "$1/out" >&2; return 1; }
	tr -d '\r' <"$1/said" | sed -n 's/^\(not ok\|ok\|#\|1\.\.\)/\1/p' | tee "$1/tap"
	grep -q '^1\.\.' "$1/tap" && ! grep -q '^not ok' "$1/tap"
}
# In seconds.
FRED_LIMIT=1800

# A CPU takes another one's NMI when its turn begins: in turns of 16 instructions, where a basic block begins; in turns of one, anywhere.
test_fred() {
	local dir turn stamp
	SOURCES_DIR=$CACHE_DIR/sources SOURCES_MISSING=$BUILD_DIR/sources-missing
	sources_root sid
	sources_need bochs bochs '*'
	[[ -d $SOURCES_DIR/bochs ]] || return 0
	stamp=$(digest "$SOURCES_DIR/bochs.stamp" "$(declare -f fred_bochs_make)")
	if ! is_made "$SOURCES_DIR/bochs-fred" "$stamp"; then
		run_step bochs "building Bochs, once (about 3 min)" fred_bochs_make "$stamp"
		((STEP_STATUS == 0)) || { failed "fred: Bochs cannot be built"; return 0; }
	fi
	kernel=7.3
	setup
	for turn in 16 1; do
		dir=$BUILD_DIR/fred-$turn
		run_step fred-disc "making a disc for Bochs" build_alone fred_disc "$dir" "$turn"
		((STEP_STATUS == 0)) || { failed "fred: there is no disc to boot from"; return 0; }
		say "running in Bochs, in turns of $turn (up to 8 min)"
		counted "fred, in turns of $turn" fred_run "$dir"
	done
}
