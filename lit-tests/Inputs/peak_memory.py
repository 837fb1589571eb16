#!/usr/bin/env python3
"""peak_memory.py BOUND COMMAND...: runs it; fails if it was ever larger in memory than BOUND bytes."""
import resource
import subprocess
import sys

code = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(f"exit code {code}, peak {peak / 1e6:.0f} MB of {int(sys.argv[1]) / 1e6:.0f}")
sys.exit(code or peak > int(sys.argv[1]))
