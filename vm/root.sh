# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The guest's root file system, its disk image and its initrd: made from the distribution's packages, once, into the cache.

VM_PACKAGES=(
	busybox-static
	lttng-tools liblttng-ctl-dev babeltrace2 libbabeltrace2-dev
	clang libbpf-dev
	gcc g++ gcc-multilib make gdb strace elfutils libunwind-dev python3 perl linux-perf trace-cmd bpftrace
	bpfcc-tools libdevel-nytprof-perl
	autoconf automake libtool pkgconf libdebuginfod-dev libdw-dev libelf-dev libglib2.0-dev libiberty-dev libjansson-dev libprotobuf-c-dev
	protobuf-c-compiler musl-tools openssl
	kmod udev procps e2fsprogs btrfs-progs zstd cpio xz-utils git iproute2
	libc6-dbg man-db less
)

# Programs that `test live` alone looks at: 1.5 GB, in a root and an image of their own.
VM_PROGRAM_PACKAGES=(
	sqlite3 ruby php-cli redis-server redis-tools postgresql ffmpeg luajit ocaml-nox nodejs openjdk-21-jdk-headless
	erlang-base golang-go llvm musl-tools
)

# A release's stock kernel.
VM_STOCK_KERNEL=(linux-image-amd64 linux-headers-amd64)

# kernel_select NAME: names all that depends on it. A release's stock kernel has that release's root; each other kernel has a copy of
# such a root, with VM_KERNEL instead: packages of VM_KERNEL_SUITE if that is another one than the release. VM_LTTNG_SUITE is
# where lttng-modules for it come from, if those of the release know no such kernel. With VM_NO_9P, the kernel has no 9p. With VM_TOGETHER,
# all of KERNELS but the default one have one root, a copy of the default one's, without lttng-modules.
kernel_select() {
	VM_SUITE=trixie
	VM_STOCK=6.12
	VM_KERNEL=()
	VM_KERNEL_SUITE=
	VM_LTTNG_SUITE=
	VM_NO_9P=
	VM_DEBUG=
	VM_APPEND=
	VM_MACHINE=pc
	case $1 in
	6.1)
		VM_SUITE=bookworm
		VM_STOCK=6.1
		;;
	6.12) ;;
	6.12-rt) VM_KERNEL=(linux-image-rt-amd64 linux-headers-rt-amd64) ;;
	6.12-cloud)
		VM_KERNEL=(linux-image-cloud-amd64 linux-headers-cloud-amd64 linux-source-6.12)
		VM_NO_9P=yes
		;;
	7.3)
		VM_KERNEL=(linux-image-amd64 linux-headers-amd64)
		VM_KERNEL_SUITE=trixie-backports
		VM_LTTNG_SUITE=forky
		;;
	6.12-debug)
		VM_DEBUG=yes
		# A report of KASAN, UBSAN or lockdep ends the guest, too.
		VM_APPEND='panic_on_warn=1 kasan.fault=panic'
		# A ninth is KASAN's, and each allocation is recorded twice.
		VM_MEMORY=4G
		# The ACPI tables of pc compute interrupt routes in a loop, which takes this kernel 30 s for each device.
		VM_MACHINE=q35
		;;
	*) die 125 "there is no guest with kernel $1" "choose --kernel $(IFS='|'; echo "${KERNELS[*]}")|6.12-debug" ;;
	esac
	KERNEL_NAME=$1
	VM_STOCK_ROOT=$CACHE_DIR/root-$VM_STOCK
	VM_ROOT=$CACHE_DIR/root-$1
	LTTNG_DIR=$CACHE_DIR/lttng-modules-$1
	VM_IMAGE=$CACHE_DIR/image-$1.ext4
	VM_INITRD=$CACHE_DIR/initrd-$1.cpio
	[[ ! $VM_TOGETHER ]] || together_select "$1"
}

# together_select NAME: after kernel_select.
together_select() {
	VM_SUITE=trixie
	VM_STOCK=6.12
	VM_STOCK_ROOT=$CACHE_DIR/root-$VM_STOCK
	VM_ROOT=$CACHE_DIR/root-together
	LTTNG_DIR=
	VM_IMAGE=$CACHE_DIR/image-together.ext4
	VM_INITRD=$CACHE_DIR/initrd-together-$1.cpio
}

# kernel_release NAME: of that kernel, in its root.
kernel_release() {
	local flavour=
	[[ $VM_TOGETHER ]] || { basename "$(echo "$VM_ROOT"/lib/modules/*)"; return; }
	[[ $1 != *-* ]] || flavour=${1#*-}-
	basename "$(echo "$VM_ROOT/lib/modules/${1%%-*}".*[0-9]-"${flavour}amd64")"
}
# Debian's kernels, the default first.
KERNELS=(6.12 6.12-rt 6.12-cloud 6.1 7.3)

# is_made THING STAMP: it exists and was made from what STAMP stands for.
is_made() {
	[[ -e $1 && -e $1.stamp && $(<"$1.stamp") == "$2" ]]
}

# cache_check: the cache is this user's, or root's, and nothing else: root starts programs of it, and removes and gives away what is in it.
cache_check() {
	[[ $(stat -c %u -- "$CACHE_DIR") == @(0|"$(stat -c %u -- "$TOP_DIR")") ]] ||
		die 125 "$CACHE_DIR belongs to another user" "choose another KUNWIND_CACHE"
	[[ -e $CACHE_DIR/lock || -z $(ls -A -- "$CACHE_DIR") ]] ||
		die 125 "$CACHE_DIR has other files" "choose a KUNWIND_CACHE that is empty, or not there"
	((EUID)) || : >>"$CACHE_DIR/lock"
}

# cache_lock: for what makes something in the cache. One at a time: others wait for what it makes. While it runs, a run has a share of the
# cache. It gives that up meanwhile: another one may wait for it in cache_alone().
cache_lock() {
	[[ $CACHE_USE ]] || exec {CACHE_USE}>>"$CACHE_DIR/use"
	flock --unlock "$CACHE_USE"
	exec {CACHE_LOCK}>>"$CACHE_DIR/lock"
	flock --nonblock "$CACHE_LOCK" || {
		say "waiting for another set-up in $CACHE_DIR"
		flock "$CACHE_LOCK"
	}
}

cache_unlock() {
	flock --shared "$CACHE_USE"
	exec {CACHE_LOCK}>&-
}

# cache_alone: no other run uses what is in the cache, or the modules of this work tree. It waits for those that do: guests of theirs run
# from it. finish() ends that.
cache_alone() {
	[[ $CACHE_USE ]] || exec {CACHE_USE}>>"$CACHE_DIR/use"
	flock --nonblock "$CACHE_USE" || {
		echo "waiting for another run that uses $CACHE_DIR"
		flock "$CACHE_USE"
	}
}

# finish TEMPORARY THING STAMP: only now does it look made.
finish() {
	[[ ! -e $2 ]] || cache_alone
	# The stamp first: half of it must not look made.
	rm -rf -- "$2.stamp" "$2"
	mv -- "$1" "$2"
	printf '%s\n' "$3" >"$2.stamp"
	[[ ! $CACHE_USE ]] || flock --shared "$CACHE_USE"
}

# apart DIR COMMAND...: runs it in a mount namespace of its own: what it mounts in DIR goes with it, also when it is killed.
apart() {
	unshare --mount --propagation unchanged -- bash -euc '
		# Where / is no mount, in a chroot, only what is below DIR can be kept private.
		mount --make-rprivate / 2>/dev/null || {
			mount --bind "$1" "$1"
			mount --make-rprivate "$1"
		}
		shift
		exec "$@"
	' apart "$@"
}

# bootstrap ARGUMENT...: mmdebstrap, apart. In root mode it mounts /proc and /sys where rm -rf will pass later.
bootstrap() {
	apart "$CACHE_DIR" mmdebstrap "$@"
}

# in_root COMMAND...: runs it in a chroot of the guest's root, with /proc, and each DIR:PLACE of VM_BINDS mounted there.
in_root() {
	apart "$VM_ROOT" bash -euc '
		root=$1 binds=$2
		shift 2
		mount -t proc proc "$root/proc"
		mount --bind /dev "$root/dev"
		mount -t tmpfs tmpfs "$root/tmp"
		while IFS=: read -r dir place; do
			[[ -n $dir ]] || continue
			mkdir -p "$root$place"
			mount --bind "$dir" "$root$place"
		done <<<"$binds"
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 "$@"
	' in_root "$VM_ROOT" "${VM_BINDS-}" "$@"
}

# root_apt TYPE STATE ARGUMENTS...: apt-get for the guest's release, with its sources (TYPE deb or deb-src) and keys and an own state.
# If VM_FROM names another suite, packages come from there first.
root_apt() {
	local type=$1 state=$2 more=()
	shift 2
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	# Wherever the guest's packages come from, their sources are.
	sed -n "s/^deb /$type /p" "$VM_ROOT/etc/apt/sources.list" >"$state/sources.list"
	if [[ ${VM_FROM-} ]]; then
		sed -n "s/^deb \(.*\) $VM_SUITE main/$type \1 $VM_FROM main/p" "$VM_ROOT/etc/apt/sources.list" >>"$state/sources.list"
		# A release that is not out yet can have a Release file that is out of date.
		more=(--target-release="$VM_FROM" -o Acquire::Check-Valid-Until=false)
	fi
	apt-get -o Dir::State::lists="$state/lists" -o Dir::Cache="$state" -o Dir::Etc::SourceList="$state/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::TrustedParts="$VM_ROOT/etc/apt/trusted.gpg.d" \
		-o Dir::State::status="$VM_ROOT/var/lib/dpkg/status" -o APT::Sandbox::User=root -o Acquire::Retries=2 "${more[@]}" "$@"
}

# root_install ROOT PACKAGE...: installs them there.
root_install() {
	local root=$1 state=$1/var/cache/kunwind
	shift
	VM_ROOT=$root root_apt deb "$state" --error-on=any update
	VM_ROOT=$root root_apt deb "$state" install -y --no-install-recommends --download-only "$@"
	# Nothing is started in a chroot. apt knows in which order to install; dpkg alone does not.
	VM_ROOT=$root in_root bash -euc '
		state=/var/cache/kunwind
		printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d
		chmod +x /usr/sbin/policy-rc.d
		# The guest has an initrd of its own: see initrd_make().
		INITRD=No DEBIAN_FRONTEND=noninteractive apt-get -o Dir::State::lists=$state/lists -o Dir::Cache=$state \
			-o Dir::Etc::SourceList=$state/sources.list -o Dir::Etc::SourceParts=/dev/null \
			install -y --no-install-recommends --no-download "$@"
		rm -r /usr/sbin/policy-rc.d $state
	' root_install ${VM_FROM:+--target-release="$VM_FROM"} "$@"
}

# root_copy ROOT: a copy of the release's root, without a kernel.
root_copy() {
	rm -rf -- "$1"
	cp -a --reflink=auto -- "$VM_STOCK_ROOT" "$1"
	VM_ROOT=$1 in_root bash -euc '
		dpkg-query --show --showformat="\${Package}\n" "linux-image-*" "linux-headers-*" "linux-kbuild-*" |
			DEBIAN_FRONTEND=noninteractive xargs dpkg --purge
		rm -rf /boot/* /usr/lib/modules/* /usr/src/linux-*
	'
}

root_make() {
	local new=$VM_ROOT.new packages
	packages=$(IFS=,; echo "${VM_STOCK_KERNEL[*]},${VM_PACKAGES[*]}")
	rm -rf -- "$new"
	# The package of lttng-modules is only fetched: installing it would try to build it, which fails; see lttng-integration/. The guest has
	# an initrd of its own; see initrd_make().
	INITRD=No bootstrap --variant=important --include="$packages" \
		--customize-hook='cd "$1/usr/src" && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get download lttng-modules-dkms' \
		--customize-hook='chroot "$1" groupadd --force --system tracing' \
		--customize-hook='chroot "$1" useradd --create-home --shell /bin/bash --groups tracing tracer' \
		--customize-hook='chroot "$1" useradd --create-home --shell /bin/bash nobody-else' \
		--customize-hook='echo kunwind >"$1/etc/hostname"' \
		"$VM_SUITE" "$new"
	finish "$new" "$VM_ROOT" "$1"
}

# lttng_fetch ROOT: puts the package of lttng-modules of VM_LTTNG_SUITE there, instead of the release's. It is only fetched, as in root_make().
lttng_fetch() {
	local new=$1 state=$1/var/cache/kunwind
	rm -- "$new"/usr/src/lttng-modules-dkms_*.deb
	VM_ROOT=$new VM_FROM=$VM_LTTNG_SUITE root_apt deb "$state" --error-on=any update
	cd -- "$new/usr/src" || return
	VM_ROOT=$new VM_FROM=$VM_LTTNG_SUITE root_apt deb "$state" download lttng-modules-dkms
	rm -r -- "$state"
}

# share_make ROOT RELEASE: builds 9p from the kernel's source. By 9p, a guest shares folders with this machine. virtiofs would do, too, but
# kunwind trusts no file server of FUSE, so tests would see something else than with other kernels.
share_make() {
	VM_ROOT=$1 in_root bash -euc '
		release=$0
		build=/lib/modules/$release/build
		mkdir /usr/src/9p
		tar xf /usr/src/linux-source-*.tar.xz -C /usr/src/9p --strip-components=1 --wildcards "*/net/9p" "*/fs/9p"
		make -C "$build" -j"$(nproc)" M=/usr/src/9p/net/9p CONFIG_NET_9P=m CONFIG_NET_9P_VIRTIO=m modules
		make -C "$build" -j"$(nproc)" M=/usr/src/9p/fs/9p CONFIG_9P_FS=m KBUILD_EXTRA_SYMBOLS=/usr/src/9p/net/9p/Module.symvers modules
		find /usr/src/9p -name "*.ko" -exec install -D -m 644 -t "/lib/modules/$release/updates/9p" {} +
		depmod "$release"
		rm -r /usr/src/9p /usr/src/linux-source-*
	' "$2"
}

# flavour_root_make STAMP: a copy of the guest's root, with another one of Debian's kernels.
flavour_root_make() {
	local new=$VM_ROOT.new
	root_copy "$new"
	VM_FROM=$VM_KERNEL_SUITE root_install "$new" "${VM_KERNEL[@]}"
	[[ -z $VM_NO_9P ]] || share_make "$new" "$(basename "$new"/lib/modules/*)"
	[[ -z $VM_LTTNG_SUITE ]] || lttng_fetch "$new"
	finish "$new" "$VM_ROOT" "$1"
}

# together_kernel ROOT NAME: puts that kernel there. The packages that name the newest of a release go again: with them apt would install
# no older one, and bring the newest of all flavours.
together_kernel() {
	VM_TOGETHER='' kernel_select "$2"
	# The packages that name a release's stock kernel have the same names in each release.
	((${#VM_KERNEL[@]})) || VM_KERNEL=("${VM_STOCK_KERNEL[@]}") VM_KERNEL_SUITE=$VM_SUITE
	together_select "$2"
	VM_FROM=$VM_KERNEL_SUITE root_install "$1" "${VM_KERNEL[@]}"
	[[ -z $VM_NO_9P ]] || share_make "$1" "$(VM_ROOT=$1 kernel_release "$2")"
	VM_ROOT=$1 in_root dpkg --purge "${VM_KERNEL[@]}"
}

# together_root_make STAMP: a copy of the default kernel's root, with all others of KERNELS instead.
together_root_make() {
	local new=$VM_ROOT.new name
	root_copy "$new"
	# A guest has other devices; to index thousands of drivers takes longer than to install the kernel.
	printf '%s\n' path-exclude={,/usr}'/lib/modules/*/kernel/'{drivers,sound}'/*' \
		path-include={,/usr}'/lib/modules/*/kernel/drivers/'{block,char,virtio}'/*' >"$new/etc/dpkg/dpkg.cfg.d/kunwind"
	for name in "${KERNELS[@]:1}"; do
		# What that selects is forgotten.
		(together_kernel "$new" "$name")
	done
	finish "$new" "$VM_ROOT" "$1"
}

# programs_make STAMP: a copy of the guest's root, with VM_PROGRAM_PACKAGES.
programs_make() {
	local new=$VM_PROGRAMS.new
	rm -rf -- "$new"
	cp -a --reflink=auto -- "$VM_ROOT" "$new"
	root_install "$new" "${VM_PROGRAM_PACKAGES[@]}"
	finish "$new" "$VM_PROGRAMS" "$1"
}

# Everything in the image that is built from source comes before it: kernel modules of lttng. Where kernels are together, nothing is built
# in the guest: it has no headers.
image_make() {
	local new=$VM_IMAGE.new
	rm -f -- "$new"
	apart "$CACHE_DIR" bash -euc '
		[[ ! $3 ]] || mount -t tmpfs -o mode=755 tmpfs "$1/usr/src"
		exec mke2fs -q -t ext4 -L kunwind -E root_owner=0:0,lazy_itable_init=1 -O ^has_journal -d "$1" "$2" 6G
	' image_make "$VM_ROOT" "$new" "$VM_TOGETHER"
	finish "$new" "$VM_IMAGE" "$1"
}

# A tiny initrd instead of the distribution's: it starts in a second where theirs takes ten.
initrd_make() {
	local dir=$VM_INITRD.dir new=$VM_INITRD.new file name
	rm -rf -- "$dir" "$new"
	mkdir -p "$dir"/{bin,dev,proc,sys,root,modules}
	: >"$dir/modules/order"
	cp -- "$VM_ROOT/usr/bin/busybox" "$dir/bin/"
	install -m 755 -- "$TOP_DIR/vm/initrd-init" "$dir/init"
	in_root modprobe -S "$KERNEL_RELEASE" -a --show-depends virtio_pci virtio_console virtio_blk ext4 9pnet_virtio 9p |
		awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r file; do
			name=${file##*/}
			name=${name%.ko*}.ko
			case $file in
			*.xz) xz -dc -- "$VM_ROOT$file" ;;
			*) cat -- "$VM_ROOT$file" ;;
			esac >"$dir/modules/$name"
			echo "$name" >>"$dir/modules/order"
		done
	VM_BINDS=$dir:/mnt in_root sh -c 'cd /mnt && find . | cpio --quiet -o -H newc' >"$new"
	rm -rf -- "$dir"
	finish "$new" "$VM_INITRD" "$1"
}

# forget_root KERNEL: what was made of its root is of the one that was there before, whatever its stamp: lttng-modules are
# installed into it.
forget_root() {
	rm -f -- "$CACHE_DIR/lttng-modules-$1.stamp" "$CACHE_DIR/image-$1.ext4.stamp" "$CACHE_DIR/initrd-$1.cpio.stamp"
}

# root_ready: the guest's root, its modules of lttng, its image and its initrd are there, of this version of the recipes.
root_ready() {
	local stamp each
	stamp=$(digest "$VM_SUITE" "${VM_STOCK_KERNEL[*]} ${VM_PACKAGES[*]}" "$(declare -f root_make)")
	is_made "$VM_STOCK_ROOT" "$stamp" || {
		forget_root "$VM_STOCK"
		VM_ROOT=$VM_STOCK_ROOT step "${VM_STOCK_ROOT##*/}" "making the guest's root from Debian $VM_SUITE's packages" root_make "$stamp"
		[[ $(stat -c %u -- "$TOP_DIR") == 0 ]] || say "    its files are root's, as in the guest; to remove it: sudo rm -rf $VM_STOCK_ROOT"
	}
	if [[ $VM_DEBUG ]]; then
		kernel_ready
		stamp=$(digest "$stamp" "$(<"$CACHE_DIR/root-kernel-$KERNEL_NAME.stamp")" "$(declare -f kernel_root_make)")
		is_made "$VM_ROOT" "$stamp" || {
			forget_root "$KERNEL_NAME"
			step "root-$KERNEL_NAME" "putting the debug kernel into a copy of the guest's root" kernel_root_make "$stamp"
		}
	elif [[ $VM_TOGETHER ]]; then
		stamp=$(digest "$stamp" "${KERNELS[*]}" "$(declare -f kernel_select root_copy root_install share_make together_kernel together_root_make)")
		is_made "$VM_ROOT" "$stamp" || {
			forget_root together
			rm -f -- "$CACHE_DIR"/initrd-together-*.stamp
			step root-together "putting Debian's other kernels into a copy of the guest's root" together_root_make "$stamp"
		}
	elif ((${#VM_KERNEL[@]})); then
		stamp=$(digest "$stamp" "${VM_KERNEL[*]}" "$VM_KERNEL_SUITE" "$VM_LTTNG_SUITE" "$VM_NO_9P" "$(declare -f root_copy root_install share_make lttng_fetch flavour_root_make)")
		is_made "$VM_ROOT" "$stamp" || {
			forget_root "$KERNEL_NAME"
			step "root-$KERNEL_NAME" "putting kernel $KERNEL_NAME into a copy of the guest's root" flavour_root_make "$stamp"
		}
	fi
	KERNEL_RELEASE=$(kernel_release "$KERNEL_NAME")
	[[ -e $VM_ROOT/boot/vmlinuz-$KERNEL_RELEASE ]] || die 125 "$VM_ROOT has no kernel" "remove $VM_ROOT and run the same command again"

	if [[ $LTTNG_DIR ]]; then
		stamp=$(digest "$stamp" "$KERNEL_RELEASE" "$TOP_DIR/lttng-integration/fix-lttng-modules" "$(declare -f lttng_make)")
		is_made "$LTTNG_DIR" "$stamp" || step "lttng-modules-$KERNEL_NAME" \
			"building lttng-modules for kernel $KERNEL_RELEASE" lttng_make "$stamp"
	fi

	each=$(digest "$stamp" "$TOP_DIR/vm/initrd-init" "$(declare -f initrd_make)")
	is_made "$VM_INITRD" "$each" || step "initrd-$KERNEL_NAME" \
		"making the guest's initrd" initrd_make "$each"

	if [[ $VM_PROGRAMS ]]; then
		VM_PROGRAMS=$VM_ROOT-programs
		VM_IMAGE=${VM_IMAGE%.ext4}-programs.ext4
		stamp=$(digest "$stamp" "$(stat -c %Y "$LTTNG_DIR.stamp")" "${VM_PROGRAM_PACKAGES[*]}" "$(declare -f programs_make)")
		is_made "$VM_PROGRAMS" "$stamp" || step "${VM_PROGRAMS##*/}" \
			"putting the programs of this test into a copy of the guest's root" programs_make "$stamp"
		VM_ROOT=$VM_PROGRAMS
	fi

	stamp=$(digest "$stamp" "$(declare -f image_make)")
	is_made "$VM_IMAGE" "$stamp" || step "image-${VM_TOGETHER:-$KERNEL_NAME}" \
		"making the guest's disk image" image_make "$stamp"
}
