# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# What tests and benchmarks need of this machine, in lists for host_needs() of vm/host.sh.

NEED_HOST='
gcc gcc builds the tests
g++ g++ builds the tests
make make builds the tests
autoreconf autoconf makes configure
automake automake makes configure
libtoolize libtool makes configure
pkg-config pkgconf finds libraries
xz xz-utils unpacks the fuzzers'"'"' inputs
clang clang builds the fuzzers
/usr/lib/clang/*/lib/*/libclang_rt.fuzzer*.a|/usr/lib64/clang/*/lib/*/libclang_rt.fuzzer*.a libclang-rt-dev builds the fuzzers
/usr/include/libdwarf.h|/usr/include/libdwarf/libdwarf.h|/usr/include/libdwarf-0/libdwarf.h libdwarf-dev what tables are compared with
/usr/include/libelf.h libelf-dev reads files of tests
/usr/include/elfutils/libdw.h libdw-dev what tables are compared with
/usr/include/x86_64-linux-gnu/libunwind.h|/usr/include/libunwind.h libunwind-dev what stacks are compared with
/usr/include/cmocka.h libcmocka-dev runs unit tests
valgrind valgrind counts instructions of walks
babeltrace2 babeltrace2 reads traces
/usr/include/babeltrace2/babeltrace.h libbabeltrace2-dev builds the plugin of babeltrace2
/usr/include/glib-2.0/glib.h libglib2.0-dev builds the plugin of babeltrace2
/usr/include/libiberty/demangle.h libiberty-dev builds the plugin of babeltrace2
/usr/include/protobuf-c/protobuf-c.h libprotobuf-c-dev builds the plugin of babeltrace2
protoc-c protobuf-c-compiler builds the plugin of babeltrace2
protoc protobuf-compiler decodes timelines
/usr/include/elfutils/debuginfod.h libdebuginfod-dev builds the plugin of babeltrace2
/usr/include/lttng/lttng.h liblttng-ctl-dev builds the command
/usr/include/jansson.h libjansson-dev builds the command
chromium chromium shows the page of flame graphs
chromedriver chromium-driver drives it
go golang-go reads profiles, and builds a program that is stepped
node nodejs runs the importer of speedscope
npm npm fetches it
uftrace uftrace replays what threads did
addr2line binutils what names are compared with
ld.gold binutils-gold links files with two executable segments
ld.lld lld links files with two executable segments
ld.mold|mold mold links files with two executable segments
python3 python3 a program whose tables are compared
gdb gdb a program whose tables are compared
openssl openssl a program whose tables are compared
mandoc mandoc checks the manual pages
git git tells which files are sources
'
NEED_FORMATS='
gn generate-ninja builds the importer of Perfetto
ninja ninja-build builds the importer of Perfetto
/usr/include/google/protobuf/compiler/code_generator.h libprotoc-dev builds the importer of Perfetto
/usr/include/sqlite3.h libsqlite3-dev builds the importer of Perfetto
/usr/include/zlib.h zlib1g-dev builds the importer of Perfetto
'
# Each is a language, or a runtime: what cannot be built is skipped.
NEED_STEPS='
erlc erlang-base a program that is stepped
fpc fp-compiler builds a program that is stepped
/usr/lib/x86_64-linux-gnu/fpc/*/units/*/rtl fp-units-rtl builds a program that is stepped
gnatmake gnat builds a program that is stepped
gfortran gfortran builds a program that is stepped
ghc ghc builds a program that is stepped
ocamlopt ocaml-nox builds a program that is stepped
ocamlfind ocaml-findlib builds a program that is stepped
musl-gcc musl-tools builds a program that is stepped
gdc gdc builds a program that is stepped
ldc2 ldc builds a program that is stepped
luajit luajit a program that is stepped
'
NEED_FRED='
g++ g++ builds Bochs
make make builds Bochs
/usr/share/bochs/BIOS-bochs-latest bochsbios starts its PC
/usr/share/seabios/vgabios.bin seabios starts its PC
/usr/lib/ISOLINUX/isolinux.bin isolinux loads Linux there
/usr/lib/syslinux/modules/bios/ldlinux.c32 syslinux-common loads Linux there
xorriso xorriso makes a disc
cpio cpio packs the files of its guest
'
# The peers among them, and most programs whose tables are measured, are in the list above.
NEED_TABLES='
/usr/bin/node|/usr/lib/x86_64-linux-gnu/libnode.so.* nodejs a program whose table is measured
qemu-system-x86_64 qemu-system-x86 a program whose table is measured
/usr/lib/x86_64-linux-gnu/libLLVM*.so* clang a library whose table is measured
'
NEED_BENCH='
/usr/lib/python3/dist-packages/matplotlib python3-matplotlib draws what was measured
'
