# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The job `test package`: the packages in a fresh system of each release. apt works in a chroot, where DKMS builds at native speed.

# What a guest and its tests need besides the packages that are tested.
PACKAGE_FRESH=linux-image-amd64,busybox-static,kmod,procps,iproute2,python3,ca-certificates

# package_fresh_make STAMP: a system that has never seen kunwind.
package_fresh_make() {
	local new=$PACKAGE_FRESH_ROOT.new
	rm -rf -- "$new"
	bootstrap --variant=important --include="$PACKAGE_FRESH" \
		--customize-hook='echo kunwind >"$1/etc/hostname"' "$VM_SUITE" "$new"
	finish "$new" "$PACKAGE_FRESH_ROOT" "$1"
}

# package_copy: VM_ROOT is a copy of it. Nothing is started in a chroot.
package_copy() {
	rm -rf -- "$VM_ROOT"
	cp -ax --reflink=auto -- "$PACKAGE_FRESH_ROOT" "$VM_ROOT"
	printf '#!/bin/sh\nexit 101\n' >"$VM_ROOT/usr/sbin/policy-rc.d"
	chmod +x "$VM_ROOT/usr/sbin/policy-rc.d"
	cp -- /etc/resolv.conf "$VM_ROOT/etc/resolv.conf"
	in_root apt-get update
}

# package_debs NAME...: the files of these packages, as package_apt() sees them.
package_debs() {
	local name
	for name; do
		basename -a -- "$PACKAGE_DIR/${name}"_*.deb | sed 's|^|/packages/|'
	done
}

# package_apt ARGUMENT...: apt-get in the system, with our packages in /packages.
package_apt() {
	VM_BINDS=$PACKAGE_DIR:/packages in_root env DEBIAN_FRONTEND=noninteractive apt-get -y "$@"
}

# package_step NAME TEXT COMMAND...: one result.
package_step() {
	run_step "package-$VM_SUITE-$1" "$VM_SUITE: $2" "${@:3}"
	if ((STEP_STATUS)); then
		failed "package: $VM_SUITE: $2"
	else
		TEST_PASSED=$((TEST_PASSED + 1))
	fi
}

# package_built MODULE...: each kernel of the system has them, in DKMS's folder, with the version of the packages.
package_built() {
	local kernel module version
	version=$(sed -n '/^#define KUNWIND_VERSION / s/.*"\(.*\)"/\1/p' "$TOP_DIR/include/kunwind/version.h")
	for kernel in "$VM_ROOT"/lib/modules/*; do
		kernel=${kernel##*/}
		for module; do
			echo "$kernel: $module: $(in_root modinfo -k "$kernel" -F version "$module")"
			[[ $(in_root modinfo -k "$kernel" -F version "$module") == "$version" ]]
		done
	done
}

# package_boot KERNEL TEST...: a guest with that kernel of the system runs them. None of it may be skipped.
package_boot() {
	local folder test
	KERNEL_RELEASE=$1
	rm -f -- "$VM_INITRD" "$VM_IMAGE"
	initrd_make none
	image_make none
	folder=$(mktemp -d "$BUILD_DIR/log/results-package-XXXXXX")
	JOB_TIMEOUT=$((TEST_LIMIT * ($# - 1) + 120))
	vm_round "$folder" "$folder/results.1" "${@:2}"
	rm -rf -- "$(vm_shared "$folder")"
	cat "$folder/results.1"
	for test in "${@:2}"; do
		grep -q "^end $test " "$folder/results.1"
	done
	! grep -E '^(fail|skip)' "$folder/results.1"
}

# package_files: all files of the system that are not apt's, dpkg's or a log's.
package_files() {
	(cd "$VM_ROOT" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./var/cache \
		-o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log \) -prune -o -print | LC_ALL=C sort)
}

# none: fails if its input has anything, and prints it.
none() {
	! grep .
}

# package_purge: purges the packages and what came with them; lists what is left of kunwind, in /etc, DKMS's folder, or among the modules.
package_purge() {
	package_apt purge '~nkunwind' lttng-modules-dkms
	{ in_root dpkg-query --show '*kunwind*' 2>/dev/null || true; } | none || return
	package_files | { grep -i kunwind || true; } | none || return
	in_root dkms status | { grep kunwind || true; } | none || return
	# Debian 12's dkms brought sudo, which refuses to go where root has no password.
	VM_BINDS=$PACKAGE_DIR:/packages in_root env DEBIAN_FRONTEND=noninteractive SUDO_FORCE_REMOVE=yes \
		apt-get -y purge --autoremove dkms
	# Debian 12's dkms leaves the key that it made.
	package_files | { grep -E '^\./(usr/)?(var/lib/dkms|etc/dkms|lib/modules/[^/]*/(updates|extra))/' || true; } |
		{ grep -vE '/mok\.(key|pub)$' || true; } | none || return
}

# test_package_release KERNEL MORE...: with the release of that kernel; MORE are another kernel's packages.
test_package_release() {
	local begun stamp install debs
	kernel=$1
	shift
	# dpkg takes minutes in an emulated guest.
	TEST_LIMIT=1800
	package_ready
	PACKAGE_FRESH_ROOT=$CACHE_DIR/root-fresh-$VM_SUITE
	stamp=$(digest "$VM_SUITE" "$PACKAGE_FRESH" "$(declare -f package_fresh_make)")
	cache_lock
	is_made "$PACKAGE_FRESH_ROOT" "$stamp" || step "${PACKAGE_FRESH_ROOT##*/}" \
		"making a fresh Debian $VM_SUITE (about 1 min)" package_fresh_make "$stamp"
	cache_unlock
	VM_ROOT=$BUILD_DIR/root-package-$VM_SUITE
	VM_IMAGE=$BUILD_DIR/package-$VM_SUITE/image.ext4
	VM_INITRD=$BUILD_DIR/package-$VM_SUITE/initrd.cpio
	MODULE_LOAD=
	step "package-$VM_SUITE-fresh" "copying a fresh Debian $VM_SUITE" package_copy

	mapfile -t debs < <(package_debs kunwind-dkms)
	begun=$SECONDS
	package_step perf "installing kunwind-dkms and linux-perf" package_apt install "${debs[@]}" linux-perf
	install=$((SECONDS - begun))
	package_step built "the modules are built" package_built kunwind kunwind-tracing
	package_step autopkgtest "Debian's own test of packages for DKMS" package_autopkgtest "${debs[@]}"
	mapfile -t debs < <(package_debs kunwind libkunwind1 libkunwind-dev)
	package_step all "installing all packages, and what they recommend" package_apt install "${debs[@]}" bpftrace
	package_step lttng "kunwind-lttng follows lttng-modules" package_built kunwind kunwind-tracing kunwind-lttng
	say "    install took $install s"
	package_step boot "perf, LTTng and bpftrace have whole stacks" package_boot "$(basename "$(echo "$VM_ROOT"/lib/modules/*)")" package/installed.sh
	sed -n 's/^# time: /    /p' "$BUILD_DIR/log/setup-package-$VM_SUITE-boot.log" >&2
	package_secure_boot "$(basename "$(echo "$VM_ROOT"/lib/modules/*)")"

	package_step upgrade "installing another kernel: $*" package_apt install "$@"
	package_step rebuilt "the modules are built for both kernels" package_built kunwind kunwind-tracing kunwind-lttng
	package_step other "the same with the other kernel" package_boot "$(package_other)" package/installed.sh
	package_step lttng-changes "kunwind-lttng is built anew when lttng-modules change" package_lttng_changes
	package_step lttng-before "kunwind-lttng is built where lttng-modules were there first" package_lttng_before
	package_step without-lttng "kunwind-lttng goes with lttng-modules-dkms" package_without_lttng
	package_step purge "purging" package_purge
	rm -rf -- "$VM_ROOT" "$VM_IMAGE" "$VM_IMAGE.stamp" "$VM_INITRD" "$VM_INITRD.stamp"
}

# package_secure_boot KERNEL: from a key that is not enrolled to whole stacks, as a user gets there.
package_secure_boot() {
	VM_FIRMWARE=$BUILD_DIR/secure-boot-$VM_SUITE
	package_step shim "installing shim, GRUB and mokutil" package_apt install --no-install-recommends shim-signed grub-efi-amd64-signed
	step "package-$VM_SUITE-firmware" "making firmware with Secure Boot" firmware_make
	package_step not-enrolled "with Secure Boot, kunwind status says how to enrol DKMS's key" package_boot "$1" package/not-enrolled.sh
	package_step enrol "enrolling the key at the restart" firmware_enrol secure-boot
	package_step enrolled "with Secure Boot, all stacks are whole" package_boot "$1" package/enrolled.sh package/installed.sh
	rm -rf -- "$VM_FIRMWARE"
	VM_FIRMWARE=
}

# package_autopkgtest DEB: what autopkgtest runs for "Testsuite: autopkgtest-pkg-dkms".
# It leaves the logs of make in a folder that autopkgtest names, or in the current one.
package_autopkgtest() {
	VM_BINDS=$PACKAGE_DIR:/packages in_root env AUTOPKGTEST_ARTIFACTS=/tmp /usr/lib/dkms/dkms-autopkgtest "$1"
}

# package_other: the kernel of another flavour.
package_other() {
	basename "$(echo "$VM_ROOT"/lib/modules/*-rt-amd64)"
}

# package_lttng_changes: kunwind-lttng is built anew when lttng-modules-dkms says that it has changed.
package_lttng_changes() {
	local before after
	before=$(package_lttng_times)
	in_root dpkg-trigger --no-await /usr/share/doc/lttng-modules-dkms
	VM_BINDS='' in_root dpkg --configure --pending
	after=$(package_lttng_times)
	printf '%s\nand then\n%s\n' "$before" "$after"
	[[ $before && $(wc -l <<<"$before") == "$(wc -l <<<"$after")" ]] && ! comm -12 <(echo "$before") <(echo "$after") | grep .
}

# package_lttng_times: when kunwind-lttng was built, for each kernel.
package_lttng_times() {
	find "$VM_ROOT"/var/lib/dkms/kunwind-lttng/ -name 'kunwind-lttng.ko*' -path '*/module/*' -printf '%T+ %P\n' | sort
}

# package_lttng_before: lttng-modules that DKMS built before kunwind-dkms was there, so their symbols are not kept.
package_lttng_before() {
	local symbols=("$VM_ROOT"/var/lib/dkms/lttng-modules/*/*/*/module/Module.symvers)
	rm -- "${symbols[@]}"
	package_lttng_changes
	ls -l -- "${symbols[@]}"
}

# package_without_lttng: apt removes it without a complaint, and the other modules stay. apt may configure kunwind-dkms first where it
# installs both. What an administrator has written for DKMS stays.
package_without_lttng() {
	local debs own=$VM_ROOT/etc/dkms/lttng-modules.conf text
	mapfile -t debs < <(package_debs kunwind-dkms)
	text=$(<"$VM_ROOT/usr/share/kunwind/lttng-modules.conf")
	package_apt remove lttng-modules-dkms
	in_root dkms status | { grep -E '^(kunwind-lttng|lttng-modules)' || true; } | none || return
	package_built kunwind kunwind-tracing
	package_apt remove kunwind-dkms
	[[ ! -e $own && ! -L $own ]]
	printf '%s\n' "$text" >"$own"
	package_apt install "${debs[@]}" lttng-modules-dkms
	package_built kunwind-lttng
	[[ -f $own && ! -L $own ]]
	rm -- "$own"
}

# test_package: with Debian 13 and with Debian 12.
test_package() {
	test_package_release 6.12 linux-image-rt-amd64 linux-headers-rt-amd64
	test_package_release 6.1 linux-image-rt-amd64 linux-headers-rt-amd64
}
