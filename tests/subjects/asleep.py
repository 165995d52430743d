#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Threads and children that sleep for good, each in another way and depth: for tools that look at them from outside."""
import os
import select
import signal
import socket
import subprocess
import threading
import time

THREADS = 24
CHILDREN = (
    ["sleep", "1000"],
    ["bash", "-c", "f() { if (($1)); then f $(($1 - 1)); else read line; fi; }; f 12"],
    ["sh", "-c", "sleep 1000; true"],
    ["perl", "-e", "sub f { my $n = shift; $n ? f($n - 1) : select undef, undef, undef, 1000 } f 5"],
    ["sort"],
    ["xz", "-T2"],
    ["awk", "{ print }"],
    ["gdb", "-q", "-nx", "/bin/ls"],
    ["openssl", "dgst"],
    ["make", "-s", "-f", "-"],
)

event = threading.Event()
pipe, keep = os.pipe()
server = socket.socket()
server.listen()
lock = threading.Lock()
lock.acquire()
poll = select.epoll()
poll.register(pipe)


def compare(_):
    return os.read(pipe, 1)


WAYS = (
    event.wait,
    lambda: time.sleep(1000),
    lambda: os.read(pipe, 1),
    lambda: select.select([pipe], [], []),
    lambda: select.poll().poll(),
    poll.poll,
    server.accept,
    lock.acquire,
    lambda: signal.sigwait([signal.SIGUSR1]),
    lambda: sorted([1, 2], key=compare),
)


def deep(depth, way):
    return deep(depth - 1, way) if depth else way()


# A pipe each: gdb makes its own one non-blocking.
children = [subprocess.Popen(each, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for each in CHILDREN]
for number in range(THREADS):
    threading.Thread(target=deep, args=(number * 3, WAYS[number % len(WAYS)]), daemon=True).start()
print("asleep", flush=True)
signal.pause()
