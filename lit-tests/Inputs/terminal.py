#!/usr/bin/env python3
"""terminal.py COMMAND...: runs COMMAND with a terminal as its stderr and prints what came there, escaped, a line each
time the cursor returns."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
seen = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:  # how Linux tells that the other end is closed
        part = b""
    if not part:
        break
    seen += part
for line in seen.split(b"\r"):
    print(ascii(line.decode()))
sys.exit(child.wait())
