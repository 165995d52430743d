#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# BPF programs ask for whole stacks by bpf_kunwind_user_stack(): the example for libbpf does.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/kfunc
. "$TOP/tests/vm/lib/kfunc"

# As tracing-integration/Kbuild asks. Debian's headers have it from 6.12 on.
[[ -e /lib/modules/$(uname -r)/build/vmlinux ]] || skip_all "the headers of this kernel have no vmlinux with BTF, so the module has no function for BPF"
example=$BUILT/source/tracing-integration/examples
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
ok "the kernel knows its BTF" test -e /sys/kernel/btf/kunwind_tracing
asks "$example/user-stack" "$example/user-stack.bpf.o"
ok "the module goes when the program has gone" rmmod kunwind_tracing
done_testing
