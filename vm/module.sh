# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Builds kernel modules with the guest's own compiler and headers, in a chroot of its root: lttng-modules once, kunwind's when their sources changed.

# lttng_make STAMP: the distribution's lttng-modules, fixed where needed, built, and installed in the guest's root.
lttng_make() {
	local new=$LTTNG_DIR.new
	rm -rf -- "$new" "$new.deb"
	dpkg-deb -x "$VM_ROOT"/usr/src/lttng-modules-dkms_*.deb "$new.deb"
	mv -- "$new.deb"/usr/src/lttng-modules-* "$new"
	rm -r -- "$new.deb"
	"$TOP_DIR/lttng-integration/fix-lttng-modules" "$new" "$VM_ROOT/usr/src/linux-headers-$KERNEL_RELEASE"
	# At the place where kunwind-lttng's build finds it, too: paths in debug information and in Module.symvers are the same.
	VM_BINDS=$new:/usr/src/lttng-modules in_root bash -euc '
		cd /usr/src/lttng-modules
		kernel=/lib/modules/$0/build
		make -j"$(nproc)" KERNELDIR="$kernel" modules
		make KERNELDIR="$kernel" INSTALL_MOD_STRIP=1 INSTALL_MOD_DIR=updates/lttng modules_install
		depmod "$0"
	' "$KERNEL_RELEASE"
	finish "$new" "$LTTNG_DIR" "$1"
}

# Which files kunwind's modules are made from. VM_MORE_MODULES names folders of more modules, which need kunwind.ko's symbols.
module_sources() {
	(cd "$TOP_DIR" && find Kbuild core kmod port/kernel include lttng-integration tracing-integration "${VM_MORE_MODULES[@]}" -name examples -prune -o -type f \
		\( -name '*.[chS]' -o -name Kbuild -o -name sources.am -o -name '*.mk' -o -name Makefile -o -name 'Module*' \) ! -path kmod/compat/found.h -print | LC_ALL=C sort)
}

# module_farm DIR: a copy of the sources there; untouched files keep their time, so that make builds what changed only.
module_farm() {
	local dir=$1 file
	mkdir -p "$dir"
	module_sources >"$dir.list"
	while read -r file; do
		if ! cmp -s "$TOP_DIR/$file" "$dir/$file"; then
			mkdir -p "$(dirname "$dir/$file")"
			cp -- "$TOP_DIR/$file" "$dir/$file"
		fi
	done <"$dir.list"
	# What is no source any more. A build writes *.mod.c and found.h.
	(cd "$dir" && find . -type f \( -name '*.[chS]' ! -name '*.mod.c' ! -name found.h -o -name Kbuild -o -name sources.am -o -name '*.mk' \) | sed 's,^\./,,' | LC_ALL=C sort) |
		LC_ALL=C comm -23 - "$dir.list" | (cd "$dir" && xargs -r -d '\n' rm -v --)
}

# module_make STAMP: kunwind.ko, kunwind-lttng.ko if there are lttng-modules, kunwind-tracing.ko, those of VM_MORE_MODULES, and the index
# files of /lib/modules that know them. What the compiler said stays in $MODULE_DIR/said.
module_make() {
	local dir=$MODULE_DIR updates=$MODULE_DIR/updates
	# Guests of another run may load them.
	[[ ! -e $dir/stamp ]] || cache_alone
	rm -rf -- "$dir/stamp" "$updates"
	# What it warned of it would not compile again, and say nothing.
	! grep -qs 'warning:' "$dir/said" || rm -rf -- "$dir/src"
	mkdir -p "$updates" "$dir/index"
	module_farm "$dir/src"
	VM_BINDS=$(printf '%s\n' "$dir/src:/usr/src/kunwind" ${LTTNG_DIR:+"$LTTNG_DIR:/usr/src/lttng-modules"} \
		"$updates:/lib/modules/$KERNEL_RELEASE/updates/kunwind" "$dir/index:/mnt") in_root bash -euc '
		kernel=/lib/modules/$0/build
		cd /usr/src/kunwind
		make -C "$kernel" M="$PWD" -j"$(nproc)" modules
		# modpost does not look at the age of KBUILD_EXTRA_SYMBOLS, and kunwind may have other checksums now: start without its output.
		if [[ -e lttng-integration/Kbuild && -e /usr/src/lttng-modules/Makefile ]]; then
			rm -f lttng-integration/{Module.symvers,*.mod.c}
			make -C "$kernel" M="$PWD/lttng-integration" -j"$(nproc)" LTTNG_MODULES=/usr/src/lttng-modules \
				KBUILD_EXTRA_SYMBOLS="$PWD/Module.symvers /usr/src/lttng-modules/src/Module.symvers" modules
		fi
		for folder in "$@"; do
			rm -f "$folder"/{Module.symvers,*.mod.c}
			make -C "$kernel" M="$PWD/$folder" -j"$(nproc)" KBUILD_EXTRA_SYMBOLS="$PWD/Module.symvers" modules
		done
		find . -name "*.ko" -exec cp -v -t "/lib/modules/$0/updates/kunwind" {} +
		# depmod follows links. That of Debian 12 writes to where it reads only.
		index=/mnt/lib/modules/$0
		mkdir -p "$index"
		cp "/lib/modules/$0"/modules.{order,builtin,builtin.modinfo} "$index/"
		for folder in kernel updates; do
			[[ ! -d /lib/modules/$0/$folder ]] || ln -sfn "/lib/modules/$0/$folder" "$index/"
		done
		depmod -b /mnt "$0"
	' "$KERNEL_RELEASE" "${VM_MORE_MODULES[@]}" 2>&1 | tee "$dir/said"
	printf '%s\n' "$1" >"$dir/stamp"
}

# module_select: names where kunwind's modules for KERNEL_RELEASE are.
module_select() {
	MODULE_DIR=$BUILD_DIR/module${VM_TOGETHER:+-$VM_TOGETHER}-$KERNEL_RELEASE
}

# module_ready: kunwind's modules are there, of the sources as they are now. Without a Kbuild there is nothing to build.
module_ready() {
	local stamp file files=() made
	module_select
	[[ -e $TOP_DIR/Kbuild ]] || return 0
	while read -r file; do
		files+=("$TOP_DIR/$file")
	done < <(module_sources)
	# The index of modules is made of what lttng_make(), or else together_root_make(), installed, and as often.
	made=${LTTNG_DIR:-$VM_ROOT}.stamp
	stamp=$(digest "$(<"$made")" "$(stat -c %Y "$made")" "$(declare -f module_make)" "${files[@]}")
	[[ -e $MODULE_DIR/stamp && $(<"$MODULE_DIR/stamp") == "$stamp" ]] || step "module-$KERNEL_RELEASE" \
		"building kunwind's modules for kernel $KERNEL_RELEASE" module_make "$stamp"
}
