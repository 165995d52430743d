#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Secure Boot, and the key of DKMS is enrolled: the modules are loaded. installed.sh uses them after this.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/secure-boot
. "$TOP/tests/vm/lib/secure-boot"

ok "DKMS's key is enrolled" says "$key is already enrolled" mokutil --test-key "$key"
ok "kunwind status knows it" status_is "not loaded" "sudo modprobe kunwind"
for module in kunwind kunwind-tracing kunwind-lttng; do
	ok "modprobe $module" modprobe "$module"
done
ok "kunwind status: loaded" status_is "loaded, version $(modinfo -F version kunwind)" ""
# The runner ends a guest that it sees locked down.
umount /sys/kernel/security
done_testing
