#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# nmi.sh with ten million NMIs, and as many hard interrupts, where the guest's clock counts instructions.
DURATION=480 LEAST=20834 RATE=25000 exec "$TOP/tests/vm/nmi.sh"
