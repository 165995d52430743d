# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Builds Debian's packages of kunwind, in a root of the guest's release that has what debian/control names and nothing else.

PACKAGE_LOCK=

# package_root_make STAMP: that root. lintian is for the result.
package_root_make() {
	local new=$PACKAGE_ROOT.new needs
	needs=$(package_needs | paste -sd,)
	rm -rf -- "$new"
	bootstrap --variant=buildd --include="lintian,$needs" "$VM_SUITE" "$new"
	finish "$new" "$PACKAGE_ROOT" "$1"
}

# package_needs: what debian/control says that a build needs.
package_needs() {
	sed -n '/^Build-Depends:/,/^[^ ]*:.*[^,]$/ s/^ \([^ ,]*\).*/\1/p' "$TOP_DIR/debian/control"
}

# package_make STAMP: the packages, from a copy of the sources; lintian has nothing to say of them.
package_make() {
	rm -rf -- "$PACKAGE_DIR"
	source_farm "$PACKAGE_DIR/source"
	VM_ROOT=$PACKAGE_ROOT VM_BINDS=$PACKAGE_DIR:/build in_root bash -euc '
		cd /build/source
		DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage --build=binary --no-sign
		cd ..
		lintian --allow-root --info --fail-on error,warning ./*.changes
	'
	printf '%s\n' "$1" >"$PACKAGE_DIR/stamp"
}

# package_ready: PACKAGE_DIR has the packages of the sources as they are, to the end of this run: another one would remove them.
package_ready() {
	local stamp
	if [[ ! $PACKAGE_LOCK ]]; then
		exec {PACKAGE_LOCK}>>"$BUILD_DIR/lock-package"
		flock --nonblock "$PACKAGE_LOCK" || die 125 "another run builds or tests packages in this work tree" "wait for its end"
	fi
	kernel_select "${kernel:?}"
	cache_lock
	PACKAGE_ROOT=$CACHE_DIR/root-package-$VM_SUITE
	PACKAGE_DIR=$BUILD_DIR/package-$VM_SUITE
	stamp=$(digest "$VM_SUITE" "$(package_needs)" "$(declare -f package_root_make)")
	is_made "$PACKAGE_ROOT" "$stamp" || step "${PACKAGE_ROOT##*/}" \
		"making a root for builds from Debian $VM_SUITE's packages (about 2 min)" package_root_make "$stamp"
	cache_unlock
	stamp=$(digest "$stamp" "$(declare -f package_make)" "$(source_list | (cd "$TOP_DIR" && xargs -d '\n' sha256sum 2>/dev/null))")
	[[ -e $PACKAGE_DIR/stamp && $(<"$PACKAGE_DIR/stamp") == "$stamp" ]] ||
		step "package-$VM_SUITE" "building packages for Debian $VM_SUITE" build_alone package_make "$stamp"
}

# package_job: leaves the packages in build/packages.
package_job() {
	package_ready
	rm -rf -- "$BUILD_DIR/packages"
	mkdir -- "$BUILD_DIR/packages"
	cp -t "$BUILD_DIR/packages" -- "$PACKAGE_DIR"/*.deb
	say "the packages for Debian $VM_SUITE are in $BUILD_DIR/packages" "install them: sudo apt install ./build/packages/*.deb"
}
