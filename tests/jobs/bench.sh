# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The job `bench`: tests/bench on this machine and in a guest; tests/bench/report makes tables, JSON and drawings of it.

# bench_check WORD...: what is to be measured, into BENCH_WHAT.
bench_check() {
	BENCH_WHAT=all
	BENCH_OUT=$BUILD_DIR/bench
	while (($#)); do
		case $1 in
		host | vm | all) BENCH_WHAT=$1 ;;
		--quick) BENCH_QUICK=--quick ;;
		*) die 125 "there is nothing to measure that is called $1" "there are host, vm and all, and --quick" ;;
		esac
		shift
	done
	# A first look leaves the figures of a whole run as they are.
	[[ -z $BENCH_QUICK ]] || BENCH_OUT+=/quick
}

# Without sanitizers, unlike the tests.
bench_host_build() {
	local dir=$BUILD_DIR/bench/host
	host_configure "$dir"
	make -j"$(nproc)" -C "$dir/tests/bench" bench
}

# bench_about KIND: of what the figures are, as samples.
bench_about() {
	local cpu memory
	cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
	memory=$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)
	printf 'about.%s\t%s\n' \
		kunwind "$(git -c safe.directory='*' -C "$TOP_DIR" describe --always --dirty 2>/dev/null || echo "not from git")" \
		date "$(date -u '+%Y-%m-%d %H:%M UTC')" \
		machine "${cpu:-unknown CPU}, $(nproc) CPUs, $memory, load $(cut -d ' ' -f 1 /proc/loadavg)" \
		versions "$1"
	[[ -z $BENCH_QUICK ]] || printf 'about.quick\tyes: too short to compare\n'
}

# bench_files: NAME, a tab, and the file of it (of the first pattern that one is of), of those that are here; of the largest ELF
# file, some candidates.
bench_files() {
	local line pattern found
	while read -r -a line; do
		found=
		for pattern in "${line[@]:1}"; do
			[[ -n $found ]] || found=$(compgen -G "$pattern" | sort -V | tail -n 1) || true
		done
		printf '%s\t%s\n' "${line[0]}" "$found"
	done <<'END'
libc /lib/x86_64-linux-gnu/libc.so.6
libstdc++ /usr/lib/x86_64-linux-gnu/libstdc++.so.6
python3 /usr/bin/python3.*[0-9]
node /usr/lib/x86_64-linux-gnu/libnode.so.* /usr/bin/node
gdb /usr/bin/gdb
qemu /usr/bin/qemu-system-x86_64
libLLVM /usr/lib/x86_64-linux-gnu/libLLVM*.so*
END
	find / -xdev -type f -size +1M \( -perm /111 -o -name '*.so*' \) -printf '%s %p\n' 2>/dev/null |
		sort -rn | head -n 40 | cut -d ' ' -f 2- | while read -r found; do
		if [[ $(head -c 4 -- "$found" 2>/dev/null | tr -d '\0') == $'\x7fELF' ]]; then
			printf 'largest\t%s\n' "$found"
		fi
	done
}

# bench_package FILE: of which package it is, and its version; nothing if it is of none.
bench_package() {
	local real each package
	real=$(realpath -- "$1")
	# Where /lib is a link, a package may have it there or in /usr/lib.
	for each in "$real" "${real#/usr}" "/usr$real"; do
		if package=$(dpkg-query --search "$each" 2>/dev/null); then
			# A diversion is a line of its own.
			dpkg-query --show --showformat='${Package} ${Version}\n' "$(sed -n '$s/: .*//p' <<<"$package")" 2>/dev/null | sed -n 1p
			return
		fi
	done
}

# bench_host_run SAMPLES: all of it.
bench_host_run() {
	local bench=$BUILD_DIR/bench/host/tests/bench/bench samples=$1 name file said status most=0 bytes package big='' largest='' gcc libc unwind elfutils
	gcc=$(gcc --version | sed -n 1p)
	libc=$(getconf GNU_LIBC_VERSION)
	unwind=$(pkg-config --modversion libunwind)
	elfutils=$(pkg-config --modversion libdw)
	bench_about "$gcc; $libc; libunwind $unwind; elfutils $elfutils" >"$samples"
	"$bench" ${BENCH_QUICK:+"$BENCH_QUICK"} walk >>"$samples"
	while IFS=$'\t' read -r name file; do
		[[ $name != largest || -z $largest ]] || continue
		if [[ -z $file ]]; then
			printf 'table_missing.%s\tnot on this machine\n' "$name" >>"$samples"
			continue
		fi
		status=0
		said=$("$bench" ${BENCH_QUICK:+"$BENCH_QUICK"} table "$name=$file") || status=$?
		case $status in
		0) ;;
		77)
			# The largest file may have no .eh_frame: then the one after it.
			printf 'table_missing.%s\t%s\n' "${file##*/}" "no table can be made" >>"$samples"
			continue
			;;
		*) die 1 "$bench table $name=$file fails: exit status $status" ;;
		esac
		printf '%s\n' "$said" "table_file.$name"$'\t'"$file" >>"$samples"
		package=$(bench_package "$file") || true
		[[ -z $package ]] || printf 'table_package.%s\t%s\n' "$name" "$package" >>"$samples"
		[[ $name != largest ]] || largest=$file
		bytes=$(sed -n 's/^table\..*\.bytes\t\([0-9]*\).*/\1/p' <<<"$said")
		if ((bytes > most)); then
			most=$bytes big=$file
		fi
	done < <(bench_files)
	if [[ -z $big ]]; then
		printf 'lookup_missing\tno file of this machine has a table\n' >>"$samples"
		return
	fi
	printf 'lookup_file\t%s\n' "${big##*/}" >>"$samples"
	"$bench" ${BENCH_QUICK:+"$BENCH_QUICK"} lookup "$big" >>"$samples"
}

# bench_report host|vm SAMPLES: tables on stdout, and what BENCH_OUT is for.
bench_report() {
	local json=$BUILD_DIR/bench/$1.json failed=
	"$TOP_DIR/tests/bench/report" "$1" "$2" "$BENCH_OUT" || failed=yes
	# Where nobody has measured at length a first look is all there is; it says itself that it is one.
	if [[ $BENCH_QUICK ]] && { [[ ! -e $json ]] || grep -q '^  "quick": ' "$json"; }; then
		cp -- "$BENCH_OUT/$1.json" "$json.new"
		mv -- "$json.new" "$json"
	fi
	[[ -z $failed ]] || die 1 "something was not measured, or is not as it must be: see above; the samples are in $2"
	say "the same as JSON, and drawings, are in $BENCH_OUT: $1.json, *.svg"
}

bench_host() {
	step bench-host-build "building the benchmarks" bench_host_build
	[[ -x $BUILD_DIR/bench/host/tests/bench/bench ]] ||
		die 125 "the benchmarks were built without libunwind or libdw" "install libunwind-dev and libdw-dev, and remove $BUILD_DIR/bench/host"
	step bench-host "measuring walks, look-ups and tables on this machine" bench_host_run "$BENCH_OUT/host.samples"
	bench_report host "$BENCH_OUT/host.samples"
}

# bench_vm_build DIR: the programs, and a module of which kunwind's symbols are known.
bench_vm_build() {
	local dir=$1
	mkdir -p "$dir/module"
	cp -p -- "$TOP_DIR"/tests/bench/vm/module/* "$dir/module/"
	VM_BINDS=$(printf '%s\n' "$TOP_DIR:/usr/src/tree" "$MODULE_DIR/src:/usr/src/kunwind" "$dir:/mnt") in_root bash -euc '
		make -C /usr/src/tree/tests/bench/vm OUT=/mnt
		rm -f /mnt/module/Module.symvers /mnt/module/*.mod.c
		make -C "/lib/modules/$0/build" M=/mnt/module KUNWIND=/usr/src/kunwind \
			KBUILD_EXTRA_SYMBOLS=/usr/src/kunwind/Module.symvers modules
		cp /mnt/module/kunwind-bench.ko /mnt/
	' "$KERNEL_RELEASE"
}

# bench_disk_make STAMP: the largest program that Debian has, with what it needs besides the guest's own packages, on a disk.
bench_disk_make() {
	local dir=$VM_DISK.dir new=$VM_DISK.new state=$VM_DISK.apt package
	rm -rf -- "$dir" "$state"
	mkdir -p "$dir"
	root_apt deb "$state" --error-on=any update
	root_apt deb "$state" install -y --no-install-recommends --download-only chromium
	for package in "$state"/archives/*.deb; do
		dpkg-deb --extract "$package" "$dir"
	done
	mke2fs -q -t ext4 -E root_owner=0:0,lazy_itable_init=1 -O ^has_journal -d "$dir" "$new" 2G
	rm -rf -- "$dir" "$state"
	finish "$new" "$VM_DISK" "$1"
}

# bench_disk: it is there.
bench_disk() {
	local stamp
	stamp=$(digest "$(<"$VM_STOCK_ROOT.stamp")" "$(declare -f bench_disk_make)")
	VM_DISK=$CACHE_DIR/chromium-$KERNEL_NAME.ext4
	cache_lock
	is_made "$VM_DISK" "$stamp" || step chromium "fetching chromium, to see how much later it starts (about 1 min)" bench_disk_make "$stamp"
	cache_unlock
}

# bench_guest_versions: of the guest's peers; nothing if one of them does not say it.
bench_guest_versions() {
	local said
	said=$(in_root bash -euc 'set -o pipefail; strace --version | sed -n "1s/ -- version//p"; perf --version; lttng --version') || return
	said=$(paste -s -d ';' <<<"$said")
	printf '%s\n' "${said//;/; }"
}

# bench_vm_run SAMPLES DIR: all of it, in one guest.
bench_vm_run() {
	local samples=$1 dir=$2 root_versions lttng qemu
	root_versions=$(bench_guest_versions) || die 125 "the guest's strace, perf and lttng do not say their versions"
	lttng=$(sed -n 's/^#define LTTNG_MODULES_M[A-Z]*_VERSION *//p; s/^#define LTTNG_MODULES_PATCHLEVEL_VERSION *//p' "$LTTNG_DIR/include/lttng/tracer.h" |
		paste -s -d .) || die 125 "lttng-modules do not say their version"
	qemu=$(qemu-system-x86_64 --version | sed -n 1p) || die 125 "QEMU does not say its version"
	bench_about "guest: Linux $KERNEL_RELEASE, lttng-modules $lttng; $root_versions; $qemu" >"$samples"
	VM_ICOUNT=yes VM_CPUS=1 MODULE_LOAD='' JOB_TIMEOUT=3600
	guest_run batch "$TOP_DIR" "$TOP_DIR/tests/bench/vm/measure" "$dir" "$MODULE_DIR/updates" "$(tools_path)" ${BENCH_QUICK:+"$BENCH_QUICK"} >>"$samples"
}

bench_vm() {
	local dir=$BUILD_DIR/bench/vm
	MODULE_LOAD=yes
	setup
	tools_ready
	bench_disk
	step bench-vm-build "building the benchmarks of the guest" bench_vm_build "$dir"
	say "measuring in a guest that counts instructions ..."
	bench_vm_run "$BENCH_OUT/vm.samples" "$dir" || die 125 "the guest could not measure everything" "what it measured is in $BENCH_OUT/vm.samples"
	bench_report vm "$BENCH_OUT/vm.samples"
}

# bench_job: what bench_check found.
bench_job() {
	mkdir -p "$BENCH_OUT"
	[[ $BENCH_WHAT == vm ]] || bench_host
	[[ $BENCH_WHAT == host ]] || bench_vm
}
