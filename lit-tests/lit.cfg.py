# What a lit test of the project is and what its RUN lines may use.
import os

import lit.formats
import lit.util

config.name = "ck-jit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.ckjit_binary_dir

# No test touches the object cache of whoever runs it: without these there is none but --cache-dir's.
for variable in ["XDG_CACHE_HOME", "HOME"]:
    config.environment.pop(variable, None)

# ck-opt and ck-jit are this build's; FileCheck, not, count and split-file are LLVM's.
if "ASAN_OPTIONS" in os.environ:
    config.environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
config.environment["PATH"] = os.pathsep.join(
    [config.ckjit_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)

# Small model configs.
config.substitutions.append(("%inputs", os.path.join(config.test_source_root, "Inputs")))
# `%exits 2 COMMAND` succeeds if COMMAND ends with exactly that code; `not` takes any but 0.
config.substitutions.append(("%exits", os.path.join(config.test_source_root, "Inputs", "exits")))
# Real models, where they are at hand: `REQUIRES: shared` and %shared.
config.substitutions.append(("%shared", config.ckjit_shared_dir))
if os.path.isdir(config.ckjit_shared_dir):
    config.available_features.add("shared")
# Sanitizers keep memory of their own: `UNSUPPORTED: sanitizers` where a test counts it.
if config.ckjit_sanitize.upper() in ["ON", "1", "TRUE", "YES"]:
    config.available_features.add("sanitizers")
# Programs that a test may need and a build doesn't: `REQUIRES: gdb`.
for program in ["gdb"]:
    if lit.util.which(program, config.environment["PATH"]):
        config.available_features.add(program)
