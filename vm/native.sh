# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The option --native: the same jobs with the kernel of this machine; builds, installs and loads modules there, after asking.

# What there is to undo.
NATIVE_LOADED=
NATIVE_SESSIOND=

# native_ask: explains, and takes a yes from the terminal only.
native_ask() {
	local answer
	say "--native loads kernel modules into the kernel of this machine ($(uname -r)), not into a guest's:" \
		"lttng-modules (built here and installed below /lib/modules, if they are not there yet), kunwind and kunwind-lttng"
	say "kunwind's are removed again at the end. A bug in them can stop this machine or damage what is on it."
	[[ -t 0 ]] || die 125 "--native asks first, and there is no terminal to answer" "run it from a terminal, or without --native"
	read -r -p "kunwind: load them here? [y/N] " answer
	[[ $answer == [yY]* ]] || die 125 "not loaded; without --native everything runs in a guest"
}

# native_select: names all that depends on this machine's kernel.
native_select() {
	KERNEL_RELEASE=$(uname -r)
	KERNEL_NAME=native
	# Its programs are built apart from any guest's.
	VM_STOCK=native
	KERNEL_HEADERS=/lib/modules/$KERNEL_RELEASE/build
	LTTNG_DIR=$CACHE_DIR/lttng-modules-$KERNEL_RELEASE
	MODULE_DIR=$BUILD_DIR/module-native-$KERNEL_RELEASE
	NEED_NATIVE="
	gcc gcc
	make make
	modprobe kmod
	perl perl-base
	unshare util-linux
	lttng lttng-tools
	babeltrace2 babeltrace2
	g++ g++
	autoreconf autoconf
	aclocal automake
	libtoolize libtool
	pkg-config pkgconf
	/usr/include/babeltrace2/babeltrace.h libbabeltrace2-dev
	/usr/include/glib-2.0/glib.h libglib2.0-dev
	/usr/include/elfutils/libdw.h libdw-dev
	/usr/include/elfutils/debuginfod.h libdebuginfod-dev
	/usr/include/libiberty/demangle.h libiberty-dev
	/usr/include/lttng/lttng.h liblttng-ctl-dev
	/usr/include/jansson.h libjansson-dev
	/usr/include/protobuf-c/protobuf-c.h libprotobuf-c-dev
	protoc-c protobuf-c-compiler
	$KERNEL_HEADERS/Makefile linux-headers-$KERNEL_RELEASE
	"
}

native_lttng_stamp() {
	digest "$KERNEL_RELEASE" "$TOP_DIR/lttng-integration/fix-lttng-modules"
}

native_module_stamp() {
	local file files=()
	while read -r file; do
		files+=("$TOP_DIR/$file")
	done < <(module_sources)
	digest "$(native_lttng_stamp)" native "${files[@]}"
}

native_lttng_make() {
	local new=$LTTNG_DIR.new
	rm -rf -- "$new" "$new.deb"
	mkdir -p "$new.deb"
	(cd "$new.deb" && apt-get -o APT::Sandbox::User=root download lttng-modules-dkms && dpkg-deb -x lttng-modules-dkms_*.deb .)
	mv -- "$new.deb"/usr/src/lttng-modules-* "$new"
	rm -r -- "$new.deb"
	# Debian's headers: what is common to flavours lies next to the folder itself.
	"$TOP_DIR/lttng-integration/fix-lttng-modules" "$new" "$(readlink -f -- "$KERNEL_HEADERS")"
	make -C "$new" -j"$(nproc)" KERNELDIR="$KERNEL_HEADERS" modules
	finish "$new" "$LTTNG_DIR" "$1"
}

native_lttng_install() {
	make -C "$LTTNG_DIR" KERNELDIR="$KERNEL_HEADERS" INSTALL_MOD_STRIP=1 INSTALL_MOD_DIR=updates/lttng modules_install
	depmod "$KERNEL_RELEASE"
}

native_module_make() {
	local source=$MODULE_DIR/src
	rm -f -- "$MODULE_DIR/stamp"
	module_farm "$source"
	make -C "$KERNEL_HEADERS" M="$source" -j"$(nproc)" modules
	rm -f -- "$source"/lttng-integration/{Module.symvers,*.mod.c}
	make -C "$KERNEL_HEADERS" M="$source/lttng-integration" -j"$(nproc)" LTTNG_MODULES="$LTTNG_DIR" \
		KBUILD_EXTRA_SYMBOLS="$source/Module.symvers $LTTNG_DIR/src/Module.symvers" modules
	printf '%s\n' "$1" >"$MODULE_DIR/stamp"
}

native_load() {
	local source=$MODULE_DIR/src
	if [[ $MODULE_LOAD ]]; then
		modprobe -a lttng-lib-ring-buffer lttng-tracer
		insmod "$source/kunwind.ko"
		insmod "$source/lttng-integration/kunwind-lttng.ko"
	fi
	[[ -z $NATIVE_SESSIOND ]] || lttng-sessiond --daemonize --quiet
}

native_loaded() {
	[[ -e /sys/module/kunwind ]]
}

native_unload() {
	local pid round module
	if [[ $NATIVE_SESSIOND && -e /run/lttng/lttng-sessiond.pid ]]; then
		# It holds the modules until it is gone, and unloads LTTng's, each of which takes 4 s in a debug kernel.
		pid=$(</run/lttng/lttng-sessiond.pid)
		kill "$pid" 2>/dev/null || true
		for ((round = 0; round < 3000; round++)); do
			[[ -d /proc/$pid ]] || break
			((round != 50)) || say "waiting for lttng-sessiond to end ..."
			sleep 0.1
		done
		[[ ! -d /proc/$pid ]] || say "lttng-sessiond, process $pid, has not ended"
		NATIVE_SESSIOND=
	fi
	if [[ $NATIVE_LOADED ]]; then
		for module in kunwind_lttng kunwind_tracing; do
			[[ ! -e /sys/module/$module ]] || rmmod "$module" || true
		done
		! native_loaded || rmmod kunwind ||
			say "kunwind's modules are still in use; remove them with: rmmod kunwind_lttng kunwind_tracing kunwind"
		NATIVE_LOADED=
	fi
}

# native_setup: what `setup` is for a guest.
native_setup() {
	local stamp
	is_debian || die 125 "--native takes lttng-modules from Debian's packages, and this is another distribution" \
		"without --native everything runs in a guest; Documentation/installing.md tells how to build by hand"
	[[ -e /proc/modules ]] || die 125 "the kernel of this machine, $(uname -r), cannot load modules" "without --native everything runs in a guest"
	[[ -z $MODULE_LOAD ]] || ! native_loaded || die 125 "kunwind is loaded here already" \
		"remove it with: rmmod kunwind_lttng kunwind; or use what is loaded: --native --no-module"
	native_ask
	own_folder "$BUILD_DIR"
	own_folder "$CACHE_DIR"
	cache_check
	native_select
	host_needs "$NEED_NATIVE"
	[[ -e $KERNEL_HEADERS/Makefile ]] || die 125 "there are no headers of the running kernel, $KERNEL_RELEASE" \
		"install the package of them, or start the kernel that you have headers of"
	cache_lock
	if [[ $MODULE_LOAD ]]; then
		stamp=$(native_lttng_stamp)
		is_made "$LTTNG_DIR" "$stamp" || step lttng-native "building lttng-modules for kernel $KERNEL_RELEASE (about 2 min)" \
			native_lttng_make "$stamp"
		modinfo -k "$KERNEL_RELEASE" lttng-tracer >/dev/null 2>&1 || step lttng-install \
			"installing lttng-modules below /lib/modules/$KERNEL_RELEASE/updates/lttng" native_lttng_install
		stamp=$(native_module_stamp)
		[[ -e $MODULE_DIR/stamp && $(<"$MODULE_DIR/stamp") == "$stamp" ]] || step module-native \
			"building kunwind's modules for kernel $KERNEL_RELEASE" native_module_make "$stamp"
	fi
	cache_unlock
	[[ -z $MODULE_LOAD ]] || NATIVE_LOADED=yes
	lttng --no-sessiond list >/dev/null 2>&1 || NATIVE_SESSIOND=yes
	step native-load "loading them" native_load
}

# native_run DIRECTORY COMMAND...: what guest_run is for a guest.
native_run() {
	local status=0
	cd -- "$1" || return
	shift
	[[ -z $VM_TOOLS ]] || export BABELTRACE_PLUGIN_PATH=$VM_TOOLS/babeltrace/.libs
	# A process group of its own: its children are stopped with it.
	timeout --kill-after=5 "$JOB_TIMEOUT" "$@" </dev/null &
	RUN_CHILD=$!
	wait "$RUN_CHILD" || status=$?
	RUN_CHILD=
	((status != 124)) || say "the command was stopped after $JOB_TIMEOUT s; --timeout S allows more"
	return "$status"
}
