# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Copies of all sources that are built there: on this machine, or in a chroot of the guest's root.

# source_list: all sources. A release can lie in a folder of which another repository knows nothing.
source_list() {
	local file list=(git -c safe.directory='*' ls-files)
	(
		cd "$TOP_DIR" || exit
		if "${list[@]}" --error-unmatch run.sh >/dev/null 2>&1; then
			"${list[@]}" --cached --others --exclude-standard
		else
			find . -path ./build -prune -o -type f -printf '%P\n'
		fi | while read -r file; do
			# git lists what was removed without it.
			[[ ! -f $file ]] || echo "$file"
		done
	)
}

# source_farm DIR: a copy of all sources, for builds that write next to them; untouched files keep their time.
source_farm() {
	local dir=$1 file
	mkdir -p "$dir"
	[[ ! -e $dir.list ]] || mv -- "$dir.list" "$dir.list.before"
	source_list >"$dir.list"
	# What is no source any more: a header would still be found.
	[[ ! -e $dir.list.before ]] || LC_ALL=C sort -u "$dir.list.before" | LC_ALL=C comm -13 <(LC_ALL=C sort -u "$dir.list") - |
		(cd "$dir" && xargs -r -d '\n' rm -f --)
	# Not one process for each file that is new: there are hundreds, while other set-ups keep the CPUs busy.
	while read -r file; do
		[[ -e $dir/$file ]] && cmp -s "$TOP_DIR/$file" "$dir/$file" || printf '%s\n' "$file"
	done <"$dir.list" | (cd "$TOP_DIR" && xargs -r -d '\n' cp --parents --preserve=mode,ownership -t "$dir" --)
}

# guest_configure DIR: all sources in DIR/source, configured in the guest's root: anew if that is another one now.
guest_configure() {
	source_farm "$1/source"
	VM_BINDS=$1:$1 in_root bash -euc '
		cd "$0/source"
		if [[ $(cat ../root 2>/dev/null) != "$1" ]]; then
			autoreconf -i
			./configure
			# make does not know that configure decided otherwise.
			make -s clean
		fi
		echo "$1" >../root
	' "$1" "$(<"$VM_STOCK_ROOT.stamp")"
}

# build_alone COMMAND...: no other run in this work tree builds at the same time. As a step.
build_alone() {
	local lock
	exec {lock}>>"$BUILD_DIR/lock"
	flock --nonblock "$lock" || {
		echo "waiting for another run that builds here"
		flock "$lock"
	}
	"$@"
}

# Where programs for the guest are built: its user space is the same with all kernels of a release.
built_folder() {
	echo "$BUILD_DIR/test-$VM_STOCK"
}
