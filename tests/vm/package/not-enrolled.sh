#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Secure Boot, and a key of DKMS that nobody has enrolled: the modules are not loaded, and kunwind status says what to do. The test does that;
# vm/firmware.sh confirms it after the restart.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/secure-boot
. "$TOP/tests/vm/lib/secure-boot"

import="sudo mokutil --import $key    # then restart, and confirm it"

rejected() {
	! modprobe kunwind 2>"$SCRATCH/modprobe" && grep -F "Key was rejected by service" "$SCRATCH/modprobe"
}

# As a user types it, with a password.
imported() {
	printf '%s\n' secure-boot secure-boot | bash -c "$import" && mokutil --list-new | grep -F "CN=DKMS module signing key"
}

ok "DKMS's key is not enrolled" says "$key is not enrolled" mokutil --test-key "$key"
ok "modprobe fails" rejected
ok "kunwind status names the command" status_is "not loaded: only signed modules are, and DKMS's key is not enrolled" "$import"
ok "the command works" imported
ok "kunwind status: a restart is next" status_is "not loaded: only signed modules are, and a key waits for a restart" \
	"sudo reboot    # and choose Enroll MOK"
done_testing
