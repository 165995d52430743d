# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Results in the Test Anything Protocol."""
import sys

_state = {"number": 0, "failed": 0}


def ok(good, name, details=()):
    """One test; details tell what was wrong."""
    _state["number"] += 1
    print("%s %d - %s" % ("ok" if good else "not ok", _state["number"], name))
    if not good:
        _state["failed"] += 1
        for detail in details:
            print("# " + str(detail).replace("\n", "\n# "))
    sys.stdout.flush()


def skip(name, why):
    """One test that cannot run here."""
    _state["number"] += 1
    print("ok %d - %s # SKIP %s" % (_state["number"], name, why))


def skip_all(why):
    """None can."""
    print("1..0 # SKIP " + why)
    sys.exit(77)


def done():
    """No more."""
    print("1..%d" % _state["number"])
    sys.exit(1 if _state["failed"] else 0)
