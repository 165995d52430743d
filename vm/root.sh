# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The guest's root file system, its disk image and its initrd: made from the distribution's packages, once, into the cache.

KUW_PACKAGES=(
	linux-image-amd64 linux-headers-amd64 busybox-static
	lttng-tools liblttng-ctl-dev babeltrace2 libbabeltrace2-dev
	clang libbpf-dev
	gcc g++ gcc-multilib make gdb strace elfutils libunwind-dev python3 perl linux-perf trace-cmd bpftrace
	bpfcc-tools libdevel-nytprof-perl
	autoconf automake libtool pkgconf libdw-dev libelf-dev libglib2.0-dev libiberty-dev libjansson-dev musl-tools openssl
	kmod udev procps e2fsprogs zstd cpio xz-utils git iproute2
)

# Programs that `test live` alone looks at: 1.5 GB, in a root and an image of their own.
KUW_PROGRAM_PACKAGES=(
	sqlite3 ruby php-cli redis-server redis-tools postgresql ffmpeg luajit ocaml-nox nodejs openjdk-21-jdk-headless
)

# kernel_select VERSION: names all that depends on it.
kernel_select() {
	KUW_DEBUG=
	KUW_APPEND=
	KUW_MACHINE=pc
	case $1 in
	6.12) KUW_SUITE=trixie ;;
	6.12-debug)
		KUW_SUITE=trixie
		KUW_DEBUG=yes
		# A report of KASAN, UBSAN or lockdep ends the guest, too.
		KUW_APPEND='panic_on_warn=1 kasan.fault=panic'
		# A ninth is KASAN's, and each allocation is recorded twice.
		KUW_MEMORY=4G
		# The ACPI tables of pc compute interrupt routes in a loop, which takes this kernel 30 s for each device.
		KUW_MACHINE=q35
		;;
	*) die 125 "there is no guest with kernel $1 yet" "choose --kernel 6.12 or 6.12-debug" ;;
	esac
	KUW_KERNEL=$1
	KUW_STOCK=$KUW_CACHE/root-${1%-debug}
	KUW_ROOT=$KUW_CACHE/root-$1
	KUW_LTTNG=$KUW_CACHE/lttng-modules-$1
	KUW_IMAGE=$KUW_CACHE/image-$1.ext4
	KUW_INITRD=$KUW_CACHE/initrd-$1.cpio
}

# is_made THING STAMP: it exists and was made from what STAMP stands for.
is_made() {
	[[ -e $1 && -e $1.stamp && $(<"$1.stamp") == "$2" ]]
}

# finish TEMPORARY THING STAMP: only now does it look made.
finish() {
	rm -rf -- "$2" "$2.stamp"
	mv -- "$1" "$2"
	printf '%s\n' "$3" >"$2.stamp"
}

# in_root COMMAND...: runs it in a chroot of the guest's root, with /proc, and each DIR:PLACE of KUW_BINDS mounted there.
# The mounts live in a mount namespace of their own and end with the command.
in_root() {
	unshare --mount --propagation unchanged -- bash -euc '
		root=$1 binds=$2
		shift 2
		# Where / is no mount, in a chroot, only what is below the root can be kept private.
		mount --make-rprivate / 2>/dev/null || {
			mount --bind "$root" "$root"
			mount --make-rprivate "$root"
		}
		mount -t proc proc "$root/proc"
		mount --bind /dev "$root/dev"
		mount -t tmpfs tmpfs "$root/tmp"
		while IFS=: read -r dir place; do
			[[ -n $dir ]] || continue
			mkdir -p "$root$place"
			mount --bind "$dir" "$root$place"
		done <<<"$binds"
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 "$@"
	' in_root "$KUW_ROOT" "${KUW_BINDS-}" "$@"
}

# root_apt TYPE STATE ARGUMENTS...: apt-get for the guest's release, with its sources (TYPE deb or deb-src) and keys and an own state.
root_apt() {
	local type=$1 state=$2
	shift 2
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	# Wherever the guest's packages come from, their sources are.
	sed -n "s/^deb /$type /p" "$KUW_ROOT/etc/apt/sources.list" >"$state/sources.list"
	apt-get -o Dir::State::lists="$state/lists" -o Dir::Cache="$state" -o Dir::Etc::SourceList="$state/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::TrustedParts="$KUW_ROOT/etc/apt/trusted.gpg.d" \
		-o Dir::State::status="$KUW_ROOT/var/lib/dpkg/status" -o APT::Sandbox::User=root -o Acquire::Retries=2 "$@"
}

root_make() {
	local new=$KUW_ROOT.new packages
	packages=$(IFS=,; echo "${KUW_PACKAGES[*]}")
	rm -rf -- "$new"
	# The package of lttng-modules is only fetched: installing it would try to build it, which fails; see lttng-integration/.
	mmdebstrap --variant=important --include="$packages" \
		--customize-hook='cd "$1/usr/src" && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get download lttng-modules-dkms' \
		--customize-hook='chroot "$1" groupadd --force --system tracing' \
		--customize-hook='chroot "$1" useradd --create-home --shell /bin/bash --groups tracing tracer' \
		--customize-hook='chroot "$1" useradd --create-home --shell /bin/bash nobody-else' \
		--customize-hook='echo kunwind >"$1/etc/hostname"' \
		"$KUW_SUITE" "$new"
	finish "$new" "$KUW_ROOT" "$1"
}

# programs_make STAMP: a copy of the guest's root, with KUW_PROGRAM_PACKAGES.
programs_make() {
	local new=$KUW_PROGRAMS.new state
	state=$new/var/cache/kunwind
	rm -rf -- "$new"
	cp -a --reflink=auto -- "$KUW_ROOT" "$new"
	KUW_ROOT=$new root_apt deb "$state" --error-on=any update
	KUW_ROOT=$new root_apt deb "$state" install -y --no-install-recommends --download-only "${KUW_PROGRAM_PACKAGES[@]}"
	# Nothing is started in a chroot.
	KUW_ROOT=$new in_root bash -euc '
		printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d
		chmod +x /usr/sbin/policy-rc.d
		DEBIAN_FRONTEND=noninteractive dpkg --install /var/cache/kunwind/archives/*.deb
		DEBIAN_FRONTEND=noninteractive dpkg --configure --pending
		rm -r /usr/sbin/policy-rc.d /var/cache/kunwind
	'
	finish "$new" "$KUW_PROGRAMS" "$1"
}

# Everything in the image that is built from source comes before it: kernel modules of lttng.
image_make() {
	local new=$KUW_IMAGE.new
	rm -f -- "$new"
	mke2fs -q -t ext4 -L kunwind -E root_owner=0:0,lazy_itable_init=1 -O ^has_journal -d "$KUW_ROOT" "$new" 6G
	finish "$new" "$KUW_IMAGE" "$1"
}

# A tiny initrd instead of the distribution's: it starts in a second where theirs takes ten.
initrd_make() {
	local dir=$KUW_INITRD.dir new=$KUW_INITRD.new file
	rm -rf -- "$dir" "$new"
	mkdir -p "$dir"/{bin,dev,proc,sys,root,modules}
	: >"$dir/modules/order"
	cp -- "$KUW_ROOT/usr/bin/busybox" "$dir/bin/"
	install -m 755 -- "$KUW_TOP/vm/initrd-init" "$dir/init"
	in_root modprobe -S "$KUW_KREL" -a --show-depends virtio_blk ext4 9pnet_virtio 9p |
		awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r file; do
			xz -dc -- "$KUW_ROOT$file" >"$dir/modules/$(basename "$file" .xz)"
			basename "$file" .xz >>"$dir/modules/order"
		done
	KUW_BINDS=$dir:/mnt in_root sh -c 'cd /mnt && find . | cpio --quiet -o -H newc' >"$new"
	rm -rf -- "$dir"
	finish "$new" "$KUW_INITRD" "$1"
}

# forget_root KERNEL: what was made of its root is of the one that was there before, whatever its stamp: lttng-modules are
# installed into it.
forget_root() {
	rm -f -- "$KUW_CACHE/lttng-modules-$1.stamp" "$KUW_CACHE/image-$1.ext4.stamp" "$KUW_CACHE/initrd-$1.cpio.stamp"
}

# root_ready: the guest's root, its modules of lttng, its image and its initrd are there, of this version of the recipes.
root_ready() {
	local stamp each
	stamp=$(digest "$KUW_SUITE" "${KUW_PACKAGES[*]}" "$(declare -f root_make)")
	is_made "$KUW_STOCK" "$stamp" || {
		forget_root "${KUW_KERNEL%-debug}"
		KUW_ROOT=$KUW_STOCK step "${KUW_STOCK##*/}" "making the guest's root from Debian $KUW_SUITE's packages (about 2 min)" root_make "$stamp"
		[[ $(stat -c %u -- "$KUW_TOP") == 0 ]] || say "    its files are root's, as in the guest; to remove it: sudo rm -rf $KUW_STOCK"
	}
	if [[ $KUW_DEBUG ]]; then
		kernel_ready
		stamp=$(digest "$stamp" "$(<"$KUW_CACHE/kernel-$KUW_KERNEL.stamp")" "$(declare -f kernel_root_make)")
		is_made "$KUW_ROOT" "$stamp" || {
			forget_root "$KUW_KERNEL"
			step "root-$KUW_KERNEL" "putting the debug kernel into a copy of the guest's root" kernel_root_make "$stamp"
		}
	fi
	KUW_KREL=$(basename "$(echo "$KUW_ROOT"/lib/modules/*)")
	[[ -e $KUW_ROOT/boot/vmlinuz-$KUW_KREL ]] || die 125 "$KUW_ROOT has no kernel" "remove $KUW_ROOT and run the same command again"

	stamp=$(digest "$stamp" "$KUW_KREL" "$KUW_TOP/lttng-integration/fix-lttng-modules" "$(declare -f lttng_make)")
	is_made "$KUW_LTTNG" "$stamp" || step "lttng-modules-$KUW_KERNEL" \
		"building lttng-modules for kernel $KUW_KREL (about 2 min)" lttng_make "$stamp"

	each=$(digest "$stamp" "$KUW_TOP/vm/initrd-init" "$(declare -f initrd_make)")
	is_made "$KUW_INITRD" "$each" || step "initrd-$KUW_KERNEL" \
		"making the guest's initrd" initrd_make "$each"

	if [[ $KUW_PROGRAMS ]]; then
		KUW_PROGRAMS=$KUW_ROOT-programs
		KUW_IMAGE=${KUW_IMAGE%.ext4}-programs.ext4
		stamp=$(digest "$stamp" "$(stat -c %Y "$KUW_LTTNG.stamp")" "${KUW_PROGRAM_PACKAGES[*]}" "$(declare -f programs_make)")
		is_made "$KUW_PROGRAMS" "$stamp" || step "${KUW_PROGRAMS##*/}" \
			"putting the programs of this test into a copy of the guest's root (about 3 min)" programs_make "$stamp"
		KUW_ROOT=$KUW_PROGRAMS
	fi

	stamp=$(digest "$stamp" "$(declare -f image_make)")
	is_made "$KUW_IMAGE" "$stamp" || step "image-$KUW_KERNEL" \
		"making the guest's disk image (about 15 s)" image_make "$stamp"
}
