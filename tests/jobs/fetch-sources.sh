# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Parts of other projects' sources that tests read, out of Debian's source packages.
#
# SOURCES_DIR: where they are kept; SOURCES_MISSING: a folder that says why one is not there.

# sources_archive: where this machine's Debian packages come from; nothing if apt knows no such place.
sources_archive() {
	apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian //p' | head -n 1
}

# sources_root SUITE: what apt must know of a release, for a job that has no guest's root.
sources_root() {
	VM_ROOT=$SOURCES_DIR/$1
	mkdir -p "$VM_ROOT/etc/apt/trusted.gpg.d" "$VM_ROOT/var/lib/dpkg"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(sources_archive) $1 main" >"$VM_ROOT/etc/apt/sources.list"
	: >"$VM_ROOT/var/lib/dpkg/status"
	SOURCES_APT=
}

# sources_fetch NAME PACKAGE PATTERN...: what the patterns name of the package's sources is in $SOURCES_DIR/NAME.
sources_fetch() {
	local name=$1 package=$2 new=$SOURCES_DIR/$1.new state=$SOURCES_DIR/apt stamp file inner
	stamp=$(digest "$*")
	shift 2
	rm -rf -- "$new" "$new.tar"
	mkdir -p "$new" "$new.tar"
	# Of the tarball apt knows the checksum; Debian's changes are not needed.
	(cd "$new.tar" && root_apt deb-src "$state" source --download-only --tar-only "$package")
	file=$(find "$new.tar" -name '*.orig.tar.*' ! -name '*.asc' | head -n 1)
	if inner=$(tar tf "$file" | grep -E '/gcc-[^/]*\.tar\.xz$'); then
		# Debian's of GCC are tarballs in a tarball.
		tar xOf "$file" "$inner" | tar xJ -C "$new" --strip-components=1 --wildcards "$@"
	else
		tar xf "$file" -C "$new" --strip-components=1 --wildcards "$@"
	fi
	rm -rf -- "$new.tar"
	finish "$new" "$SOURCES_DIR/$name" "$stamp"
}

# sources_missing NAME LOG: notes why it is not here.
sources_missing() {
	rm -rf -- "${SOURCES_DIR:?}/$1"{,.new,.new.tar}
	mkdir -p "$SOURCES_MISSING"
	{ grep -E '^E: |tar: ' "$2" || tail -n 1 "$2"; } | head -n 1 |
		sed "s/^/the sources of $1 cannot be fetched: /" >"$SOURCES_MISSING/$1"
	skipped "$(cat "$SOURCES_MISSING/$1")"
}

# sources_need NAME PACKAGE PATTERN...: fetches it if it is not here, or notes why that cannot be done.
sources_need() {
	cache_lock
	is_made "$SOURCES_DIR/$1" "$(digest "$*")" || sources_get "$@"
	cache_unlock
}

# sources_get NAME PACKAGE PATTERN...: fetches it, or notes why that cannot be done.
sources_get() {
	local name=$1
	if [[ -z $SOURCES_APT ]]; then
		run_step sources-update "fetching the list of Debian's source packages" root_apt deb-src "$SOURCES_DIR/apt" --error-on=any update
		SOURCES_APT=$STEP_STATUS
	fi
	if [[ $SOURCES_APT != 0 ]]; then
		sources_missing "$name" "$BUILD_DIR/log/setup-sources-update.log"
		return
	fi
	run_step "sources-$name" "fetching $name: Debian's source package $2" sources_fetch "$@"
	((STEP_STATUS == 0)) || sources_missing "$name" "$BUILD_DIR/log/setup-sources-$name.log"
}
SOURCES_APT=
