//===- CompileFlags.cpp - Options of every verb that compiles -------------===//
#include "CompileFlags.h"
#include "Verbs.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

CompileFlags::CompileFlags(cl::SubCommand &command, Slots slots)
    : cpu("target-cpu", cl::sub(command), cl::value_desc("NAME"), cl::init("native"),
          cl::desc("The CPU to compile for: native (default) or a name such as haswell")),
      strict("strict", cl::sub(command), cl::desc("Sum in double and round once; exact exp")),
      materialize("materialize", cl::sub(command), cl::desc("Let every op write its slot of the arena")),
      activations("activations", cl::sub(command), cl::init(Activations::Default), cl::value_desc("TYPE"),
                  cl::desc("What quantized weights multiply (default: int8, with --strict fp32):"),
                  cl::values(clEnumValN(Activations::Int8, "int8", "blocks of 8-bit codes, made once for each input"),
                             clEnumValN(Activations::FP32, "fp32", "activations as they are"))),
      noFuse("no-fuse", cl::sub(command), cl::Hidden, cl::desc("Don't fuse SwiGLU and residuals")),
      rows("tile-rows", cl::sub(command), cl::Hidden, cl::desc("Weight rows of a register tile (0: choose)")),
      vectors("tile-vectors", cl::sub(command), cl::Hidden, cl::desc("Panels of a register tile (0: choose)")),
      panels("tile-panels", cl::sub(command), cl::Hidden, cl::desc("Panels of a cache block (0: choose)")),
      unroll("tile-unroll", cl::sub(command), cl::Hidden, cl::desc("Steps of the k loop written out (0: choose)")),
      fault("inject-fault", cl::sub(command), cl::Hidden, cl::value_desc("KERNEL"),
            cl::desc("Test only: break the kernels whose name starts so")) {
  if (slots == Slots::Hide)
    materialize.setHiddenFlag(cl::ReallyHidden);
}

Expected<CompileOptions> CompileFlags::options() const {
  for (const cl::opt<int64_t> *size : {&rows, &vectors, &panels, &unroll})
    if (*size < 0)
      return usageError("--" + size->ArgStr + " is " + Twine(size->getValue()) + ", expected 0 or more");
  if (strict && activations == Activations::Int8)
    return usageError("--strict and --activations=int8 are both given, expected one of them: sums of codes aren't double");
  auto target = describeTarget(cpu);
  if (!target)
    // A name that isn't one is wrong usage; that this machine can't be described is not.
    return cpu == "native" ? target.takeError() : usageError(toString(target.takeError()));
  CompileOptions options;
  options.target = std::move(*target);
  options.pipeline.strict = strict;
  options.pipeline.quantize = activations != Activations::FP32;
  options.pipeline.materialize = materialize;
  options.pipeline.fuse = !noFuse;
  options.pipeline.rows = rows;
  options.pipeline.vectors = vectors;
  options.pipeline.panels = panels;
  options.pipeline.unroll = unroll;
  options.pipeline.faultyKernel = fault;
  return options;
}

LinkFlags::LinkFlags(cl::SubCommand &command)
    : perf("perf", cl::sub(command),
           cl::desc("Tell perf the names of kernels: `perf record -k 1 -o P ck-jit ...`, `perf inject --jit -i P -o Q`,\n"
                    "`perf report -i Q`. Writes a jitdump below $JITDUMPDIR (default: the home)/.debug/jit")),
      gdb("gdb", cl::sub(command), cl::desc("Tell GDB the names of kernels, to break at them and in backtraces")) {}
