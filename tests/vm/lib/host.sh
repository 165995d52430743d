# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# What this machine must have: checks for commands and files, and installs the distribution's packages for them.

# Each line: what is looked for (a command, or a file, a pattern of one, if it has a slash), and Debian's package of it.
KUW_NEED_GUEST='
qemu-system-x86_64 qemu-system-x86
/usr/share/qemu/linuxboot_dma.bin qemu-system-data
mmdebstrap mmdebstrap
mke2fs e2fsprogs
/usr/share/keyrings/debian-archive-keyring.gpg|/usr/share/keyrings/debian-archive-keyring.pgp debian-archive-keyring
flock util-linux
setpriv util-linux
unshare util-linux
mount mount
xz xz-utils
dpkg-deb dpkg
'
KUW_NEED_HOST='
gcc gcc
g++ g++
make make
clang clang
/usr/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a libclang-rt-dev
autoreconf autoconf
automake automake
libtoolize libtool
pkg-config pkgconf
python3 python3
gdb gdb
openssl openssl
mandoc mandoc
git git
/usr/include/libdwarf.h|/usr/include/libdwarf/libdwarf.h|/usr/include/libdwarf-0/libdwarf.h libdwarf-dev
/usr/include/libelf.h libelf-dev
/usr/include/elfutils/libdw.h libdw-dev
/usr/include/x86_64-linux-gnu/libunwind.h|/usr/include/libunwind.h libunwind-dev
/usr/include/cmocka.h libcmocka-dev
'

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
		*) command -v "$each" >/dev/null && return 0 ;;
		esac
	done
	return 1
}

# is_installed PACKAGE: the same question for a package of Debian: files move between releases.
is_installed() {
	is_debian && [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

apt_install() {
	export DEBIAN_FRONTEND=noninteractive
	# A fresh machine may know of no packages at all, or of versions that are gone.
	apt-get install -y --no-install-recommends "$@" || {
		apt-get update
		apt-get install -y --no-install-recommends "$@"
	}
}

# host_needs LIST: makes sure that everything in it is here.
host_needs() {
	local what package missing=() lacking=()
	while read -r what package; do
		if [[ -n $what ]] && ! has "$what" && ! is_installed "$package"; then
			missing+=("${what%%|*}")
			lacking+=("$package")
		fi
	done <<<"$1"
	((${#missing[@]})) || return 0
	if ! is_debian; then
		die 125 "this machine lacks: ${missing[*]}" \
			"on Debian the packages are: ${lacking[*]}" \
			"install your distribution's packages of these, and run the same command again"
	fi
	step packages "installing packages that are missing here: ${lacking[*]}" apt_install "${lacking[@]}"
}

# become_root ARGUMENTS...: starts run.sh again through sudo if need be.
become_root() {
	((EUID == 0)) && return
	command -v sudo >/dev/null || die 125 "this needs root: the guest's root file system is made with root's rights" \
		"run it as root, or install sudo"
	say "this needs root: starting again through sudo"
	exec sudo ${KUNWIND_CACHE:+KUNWIND_CACHE="$KUNWIND_CACHE"} -- "$KUW_TOP/run.sh" "$@"
}
