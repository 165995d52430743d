# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# What this machine must have: checks for commands and files, and installs the distribution's packages for them.

# Each line: what is looked for (a command, or a file, a pattern of one, if it has a slash), Debian's package of it, and what it
# is for.
NEED_GUEST='
qemu-system-x86_64 qemu-system-x86 runs the guest
/usr/share/qemu/linuxboot_dma.bin qemu-system-data starts the guest
mmdebstrap mmdebstrap makes the guest'"'"'s root file system
apt-get apt fetches its packages
dpkg-deb dpkg unpacks them
/usr/share/keyrings/debian-archive-keyring.gpg|/usr/share/keyrings/debian-archive-keyring.pgp debian-archive-keyring proves them
mke2fs e2fsprogs makes the guest'"'"'s disk
xz xz-utils unpacks drivers for the guest'"'"'s start
flock util-linux keeps two set-ups apart
setpriv util-linux ends the guest with this script
unshare util-linux builds modules in the guest'"'"'s root
mount mount builds modules in the guest'"'"'s root
'

# What downloads and the viewer need, and sudo forgets.
NEED_ENVIRONMENT=()
for each in {http,https,ftp,all,no}_proxy {HTTP,HTTPS,FTP,ALL,NO}_PROXY DEBUGINFOD_{URLS,TIMEOUT} NO_COLOR COLORTERM LESS TZ; do
	[[ -z ${!each-} ]] || NEED_ENVIRONMENT+=("$each=${!each}")
done
unset each

is_debian() {
	[[ -r /etc/os-release ]] && grep -Eq '^(ID|ID_LIKE)=.*debian' /etc/os-release && command -v apt-get >/dev/null
}

# has ALTERNATIVES: one of the commands or files (separated by |) is there.
has() {
	local each all
	IFS='|' read -r -a all <<<"$1"
	for each in "${all[@]}"; do
		case $each in
		*/*) compgen -G "$each" >/dev/null && return 0 ;;
		# A function of this script may have the command's name.
		*) type -P "$each" >/dev/null && return 0 ;;
		esac
	done
	return 1
}

# is_installed PACKAGE: the same question for a package of Debian: files move between releases.
is_installed() {
	is_debian && [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# as_root COMMAND...: root does it.
as_root() {
	if ((EUID == 0)); then
		"$@"
	else
		sudo -- env "${NEED_ENVIRONMENT[@]}" "$@"
	fi
}

apt_install() {
	local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends)
	# A fresh machine may know of no packages at all, or of versions that are gone.
	as_root "${install[@]}" "$@" || {
		as_root apt-get update
		as_root "${install[@]}" "$@"
	}
}

# host_needs LIST: makes sure that everything in it is here.
host_needs() {
	local what package purpose lines=() lacking=() wide=0
	while read -r what package purpose; do
		if [[ -n $what ]] && ! has "$what" && ! is_installed "$package"; then
			what=${what%%|*}
			lines+=("$what" "$purpose (Debian's package: $package)")
			((${#what} <= wide)) || wide=${#what}
			[[ " ${lacking[*]-} " == *" $package "* ]] || lacking+=("$package")
		fi
	done <<<"$1"
	((${#lines[@]})) || return 0
	mapfile -t lines < <(printf "    %-${wide}s  %s\n" "${lines[@]}")
	if ! is_debian; then
		die 125 "this machine lacks:" "${lines[@]}" \
			"only Debian's packages can be installed from here: install your distribution's, and run the same command again"
	fi
	if ((EUID)); then
		command -v sudo >/dev/null || die 125 "this machine lacks:" "${lines[@]}" \
			"to install them needs root: apt-get install ${lacking[*]}"
		say "packages are missing here: ${lacking[*]}" "to install them needs root: asking through sudo"
		# Here and not in the step, which cannot ask: it runs in the background.
		sudo true || die 125 "nothing was installed" "as root: apt-get install ${lacking[*]}"
	fi
	step packages "installing packages that are missing here: ${lacking[*]}" apt_install "${lacking[@]}"
}

# become_root ARGUMENTS...: starts run.sh again through sudo if need be.
become_root() {
	((EUID)) || return 0
	command -v sudo >/dev/null || die 125 "this needs root: to install packages, and to make the guest's root file system" \
		"run it as root, or have sudo installed and yourself allowed to use it; ./run.sh test host needs neither, once its packages are here"
	say "this needs root, to install packages and to make the guest's root file system: starting again through sudo"
	# Apart, because its status would look like a command's.
	sudo true || die 125 "sudo does not make you root here" "run it as root"
	exec sudo -- env "${NEED_ENVIRONMENT[@]}" ${KUNWIND_CACHE:+KUNWIND_CACHE="$CACHE_DIR"} "$TOP_DIR/run.sh" "$@"
}

# own_folder DIR: makes it; it belongs to who the work tree belongs to.
own_folder() {
	[[ -d $1 ]] || {
		mkdir -p -- "$1"
		((EUID)) || chown -h --reference="$TOP_DIR" -- "$1"
	}
}

# own_file FILE: the same for a file: another run, that is not root, may need it meanwhile. With noclobber, root does not follow a link that
# the folder's owner has just put there.
own_file() {
	(set -o noclobber && : >"$1") 2>/dev/null || return 0
	((EUID)) || chown -h --reference="$TOP_DIR" -- "$1"
}

# give_back: what root made here belongs to who the folder belongs to, so that they can read and remove it. Not the root file
# systems of guests, nor what becomes one, in the cache: in those the owners mean something. Their owner can swap folders meanwhile: -execdir goes into
# each without following links.
give_back() {
	local dir owner
	((EUID == 0)) || return 0
	for dir in "$BUILD_DIR" "$CACHE_DIR"; do
		owner=$(stat -c %u:%g -- "$dir" 2>/dev/null) || continue
		[[ $owner != 0:* ]] || continue
		# It refuses to work with a relative folder in PATH.
		PATH=/usr/sbin:/usr/bin:/sbin:/bin find "$dir" -xdev -type d -user 0 \( -name 'root-*' -o -name '*.dir' \) ! -path "$GUEST_DIR/*" -prune -o -user 0 \
			-execdir chown -h "$owner" -- {} + 2>/dev/null || true
	done
}
