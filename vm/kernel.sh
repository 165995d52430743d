# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# The debug kernel: built from the distribution's own kernel source with vm/debug.config, once, into the cache.

# Besides the guest's own packages, what builds it: the version of the guest's stock kernel is the source's, too.
VM_KERNEL_PACKAGES=(linux-source-6.12 flex bison bc)

# kernel_fetch STAMP: a copy of the guest's root in which the source is unpacked and can be built.
kernel_fetch() {
	local new=$CACHE_DIR/root-build-$KERNEL_NAME.new
	rm -rf -- "$new"
	cp -a --reflink=auto -- "$VM_STOCK_ROOT" "$new"
	root_install "$new" "${VM_KERNEL_PACKAGES[@]}"
	VM_ROOT=$new in_root bash -euc '
		mkdir /usr/src/linux
		tar xf /usr/src/linux-source-*.tar.xz -C /usr/src/linux --strip-components=1
		rm -r /usr/src/linux-source-*.tar.xz
	'
	finish "$new" "$CACHE_DIR/root-build-$KERNEL_NAME" "$1"
}

# kernel_make STAMP: what a guest's root needs of it: kernel, headers, and a folder of modules that is empty except for their index.
kernel_make() {
	local build=$CACHE_DIR/root-build-$KERNEL_NAME new=$CACHE_DIR/root-kernel-$KERNEL_NAME.new
	rm -rf -- "$new"
	mkdir -p "$new"
	cp -- "$TOP_DIR/vm/debug.config" "$build/usr/src/debug.config"
	# allnoconfig drops a line whose conditions are not met, and says nothing.
	VM_ROOT=$build VM_BINDS=$new:/mnt in_root bash -euc '
		cd /usr/src/linux
		make KCONFIG_ALLCONFIG=/usr/src/debug.config allnoconfig
		if grep ^CONFIG_ /usr/src/debug.config | grep -vxFf .config; then
			echo "these lines of vm/debug.config took no effect" >&2
			exit 1
		fi
		make -j"$(nproc)" bzImage modules
		release=$(make -s kernelrelease)
		headers=/usr/src/linux-headers-$release
		make run-command KBUILD_RUN_COMMAND="\$(srctree)/scripts/package/install-extmod-build /mnt$headers"
		mkdir -p /mnt/boot "/mnt/usr/lib/modules/$release"
		cp arch/x86/boot/bzImage "/mnt/boot/vmlinuz-$release"
		cp System.map "/mnt/boot/System.map-$release"
		cp .config "/mnt/boot/config-$release"
		cp modules.order modules.builtin modules.builtin.modinfo "/mnt/usr/lib/modules/$release/"
		ln -s "$headers" "/mnt/usr/lib/modules/$release/build"
	'
	finish "$new" "$CACHE_DIR/root-kernel-$KERNEL_NAME" "$1"
	rm -rf -- "$build" "$build.stamp"
}

# kernel_root_make STAMP: the guest's root, with this kernel instead of the distribution's.
kernel_root_make() {
	local new=$VM_ROOT.new
	root_copy "$new"
	cp -a -- "$CACHE_DIR/root-kernel-$KERNEL_NAME/." "$new/"
	finish "$new" "$VM_ROOT" "$1"
}

# kernel_ready: the debug kernel is there. The guest's packages may change without it.
kernel_ready() {
	local stamp
	stamp=$(digest "$VM_SUITE" "${VM_KERNEL_PACKAGES[*]}" "$(declare -f kernel_make)" "$TOP_DIR/vm/debug.config")
	is_made "$CACHE_DIR/root-kernel-$KERNEL_NAME" "$stamp" && return
	is_made "$CACHE_DIR/root-build-$KERNEL_NAME" "$VM_SUITE ${VM_KERNEL_PACKAGES[*]}" || step "kernel-source-$KERNEL_NAME" \
		"fetching the distribution's kernel source (about 1 min)" kernel_fetch "$VM_SUITE ${VM_KERNEL_PACKAGES[*]}"
	step "kernel-$KERNEL_NAME" "building a debug kernel from it (about 15 min)" kernel_make "$stamp"
}
