"""exports.py NM LIBRARY HEADER...: the library shows exactly the functions that the headers declare, and needs no MLIR.

Prints what differs and ends with 1 if something does."""
import re
import subprocess
import sys

nm, library, *headers = sys.argv[1:]
text = "".join(open(header).read() for header in headers)
text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
declared = set(re.findall(r"CKJIT_API[^;]*?\b(ckjit_\w+|ck_codegen_\w+)\s*\(", text))

listed = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
shown = {}
for line in listed.splitlines():
    _, kind, name = line.split()
    if kind != "A":  # the name of the version
        shown[name.split("@")[0]] = kind

failed = False
for what, names in [
    ("declared, but not in the library", declared - set(shown)),
    ("in the library, but not declared", set(shown) - declared),
    ("not a function", {name for name, kind in shown.items() if kind != "T"}),
]:
    for name in sorted(names):
        print(f"{name}: {what}")
        failed = True
if len(declared) < 30:
    print(f"only {len(declared)} declarations found in the headers")
    failed = True

# Other libraries' names that the loader may look for anywhere: LLVM's must be of a version.
undefined = subprocess.run([nm, "-D", "--undefined-only", library], check=True, capture_output=True, text=True).stdout
for line in undefined.splitlines():
    name = line.split()[-1]
    if re.match(r"_Z\w*N\w*(4llvm|4mlir)|LLVM|mlir", name) and "@LLVM_" not in name:
        print(f"{name}: needed without a version: another LLVM of the host may answer")
        failed = True
sys.exit(failed)
