#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""usage: threads.py THREADS ROUNDS: threads that make system calls from different depths, and a child."""
import os
import subprocess
import sys
import threading
import time


def work(depth):
    if depth:
        work(depth - 1)
        return
    os.getppid()
    time.sleep(0.001)
    with open("/proc/self/stat", encoding="utf-8") as file:
        file.read()


def thread(number, rounds):
    for turn in range(rounds):
        work(number + turn)


def main(threads, rounds):
    threads = [threading.Thread(target=thread, args=(number, rounds)) for number in range(threads)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    subprocess.check_output(["echo", "done"])


main(int(sys.argv[1]), int(sys.argv[2]))
