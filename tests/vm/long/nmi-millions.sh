#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# nmi.sh with ten million NMIs, and as many hard interrupts, where the guest's clock counts instructions. At 25,000 a second the debug
# kernel does hardly anything else: the frees of RCU took 123 s, a soft lockup.
DURATION=740 LEAST=13514 RATE=15000 exec "$TOP/tests/vm/nmi.sh"
