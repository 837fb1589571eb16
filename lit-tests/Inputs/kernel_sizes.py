"""kernel_sizes.py MANIFEST OBJECT: a manifest's kernels against what llvm-nm sees in the object."""
import json
import subprocess
import sys

manifest = json.load(open(sys.argv[1]))
sizes = {}
for line in subprocess.check_output(["llvm-nm", "--print-size", sys.argv[2]], text=True).splitlines():
    fields = line.split()
    if len(fields) == 4 and fields[2] in "tT":
        sizes[fields[3]] = int(fields[1], 16)
kernels = {kernel["name"]: kernel for kernel in manifest["kernels"]}
functions = set(sizes) - {"prefill", "decode"}
assert functions == set(kernels), functions ^ set(kernels)
for name, kernel in kernels.items():
    assert kernel["object_size"] == sizes[name] > 0, (kernel, sizes[name])
    assert kernel["dtype"] == "fp32" and kernel["target"] == manifest["target"], kernel
    assert name.startswith(kernel["op"] + "." + "x".join(map(str, kernel["shape"]))), kernel
print(manifest["file"], manifest["mode"], manifest["target"], manifest["strict"], len(kernels), "kernels")
