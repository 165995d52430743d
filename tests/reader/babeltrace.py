# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Runs babeltrace2 with the plugin, and reads the text that it prints."""
import collections
import os
import re
import subprocess
import threading

Result = collections.namedtuple("Result", "out err status")
Frame = collections.namedtuple("Frame", "text function offset module source inlined guessed",
                               defaults=(False,))


# The leak scan takes what is before a library's thread-local data for its length,
# which is true of old glibc only, and crashes.
ASAN_OPTIONS = "intercept_tls_get_addr=0"


def environment(**more):
    """A sanitizer's library must be the first that is loaded."""
    env = dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8")
    env.pop("DEBUGINFOD_URLS", None)
    env.update(more)
    if os.environ.get("SANITIZE"):
        asan = subprocess.run([os.environ["CC"], "-print-file-name=libasan.so"],
                              check=True, stdout=subprocess.PIPE,
                              universal_newlines=True).stdout.strip()
        env["LD_PRELOAD"] = asan
        env.setdefault("ASAN_OPTIONS", ASAN_OPTIONS)
    return env


def start(command, seconds, **kwargs):
    """
    A process that is killed if it takes longer. timeout(1) would send SIGCONT behind a signal
    that it passes on. If LeakSanitizer attaches to the process at that moment, SIGCONT takes
    away the SIGSTOP that it waits for, and both hang.
    """
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
    deadline = threading.Timer(seconds, process.kill)
    deadline.daemon = True
    deadline.start()
    return process


def command_line(traces, params="", sink="sink.kunwind.text", filters=True,
                 view=None):
    """babeltrace2 and its arguments; view: the sink's parameters."""
    command = ["babeltrace2", "--plugin-path", os.environ["PLUGINS"]]
    # Clocks of several machines are those of day, or nothing can be read.
    command += [traces] if isinstance(traces, str) else \
        ["--clock-force-correlate"] + traces
    if filters:
        command.append("--component=names:filter.kunwind.symbolize")
        if params:
            name, value = params.split("=", 1)
            command.append('--params=%s="%s"' % (name, value))
    command.append("--component=text:" + sink)
    for name, value in (view or {}).items():
        command.append('--params=%s="%s"' % (name, value))
    return command


def read(traces, params="", timeout=120, leaks=True, env=None, binary=False, before=(), **kwargs):
    """What babeltrace2 prints of a trace, or of several; env: more of that; before: its starter."""
    env = environment(**(env or {}))
    if not leaks:
        env["ASAN_OPTIONS"] = ASAN_OPTIONS + ":detect_leaks=0"
    command = [*before, *command_line(traces, params, **kwargs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, timeout=timeout, check=False)
    return Result(done.stdout if binary else done.stdout.decode(), done.stderr.decode(),
                  done.returncode)


def frame(line):
    """The parts of a frame's line."""
    parts = line.strip().split("  ")
    guessed = parts[-1] == "[guessed]"
    if guessed:
        parts.pop()
    inlined = parts[-1] == "(inlined)"
    if inlined:
        parts.pop()
    if len(parts) < 2:
        return Frame("  ".join(parts + ["[guessed]"] * guessed), "", 0,
                     parts[0].rsplit("+", 1)[0], "", inlined, guessed)
    function, _, offset = parts[0].rpartition("+") if not inlined else \
        (parts[0], "", "0")
    return Frame(line.strip(), function, int(offset, 16), parts[1],
                 parts[2] if len(parts) > 2 else "", inlined, guessed)


def frames(text):
    """The frames of each process's last event, by its name."""
    result = {}
    for line in text.splitlines():
        if line.startswith("    "):
            if not line.startswith("    ..."):
                result[name].append(frame(line))
        else:
            name = re.match(r"\S+ (.*)\[7\] ", line).group(1)
            result[name] = []
    return result
