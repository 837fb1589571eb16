//===- EmitRuntime.cpp - A model as a library or a program ----------------===//
#include "ckjit/AOT/EmitRuntime.h"
#include "Parts.h"
#include "ckjit/JIT/Symbols.h"
#include "ckjit/Weights/Bump.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ckjit;

static StringRef textOf(const SmallVectorImpl<char> &bytes) { return StringRef(bytes.data(), bytes.size()); }

Error ckjit::emitRuntime(const CKIRGraph &graph, StringRef where, const CompileOptions &options, AotMode mode,
                         StringRef path, StringRef linker) {
  CompileOptions both = options;
  both.decode = true;
  auto compiled = compileGraph(graph, where, both);
  if (!compiled)
    return compiled.takeError();
  // As in memory: a call of libm, say, would link silently.
  if (Error error = checkSymbols(textOf(compiled->object)))
    return error;
  bool strict = options.pipeline.strict;
  auto description = aot::describeModel(graph.config, *compiled, both);
  if (!description)
    return description.takeError();
  auto data = makeDataObject("ckjit_description", *description, options.target);
  if (!data)
    return data.takeError();
  auto manifest = aot::kernelManifest(*compiled, mode, strict, sys::path::filename(path));
  if (!manifest)
    return manifest.takeError();
  auto linked = aot::link({textOf(compiled->object), textOf(*data)}, mode, linker);
  if (!linked)
    return linked.takeError();
  return writeFilesAtomically({{path.str(), *linked, /*executable=*/true}, {(path + ".kernels.json").str(), *manifest}});
}
