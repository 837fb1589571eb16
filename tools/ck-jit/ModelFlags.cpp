//===- ModelFlags.cpp - Options of the verbs that run a model -------------===//
#include "ModelFlags.h"
#include "GraphOptions.h"
#include "Progress.h"
#include "Verbs.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

ModelFlags::ModelFlags(cl::SubCommand &command)
    : WeightFileFlags(command), weights("weights", cl::sub(command), cl::value_desc("FILE"), cl::desc("The weight file (BUMP)")),
      ir("ir", cl::sub(command), cl::value_desc("FILE"), cl::desc("Run this graph (ck-jit ir --json) instead")),
      threads("threads", cl::sub(command), cl::value_desc("N"), cl::init(0),
              cl::desc("Threads (default: all usable cores)")),
      cache(command), link(command) {}

Error ModelFlags::check() const {
  if (weights.empty())
    return usageError("give --weights FILE");
  if (!ir.empty() && !config.empty())
    return usageError("give --config or --ir, not both: an IR file holds its config");
  if (Error error = WeightFileFlags::check())
    return error;
  if (threads > ThreadTeam::kMaxThreads)
    return usageError("--threads is " + Twine(threads) + ", expected at most " + Twine(ThreadTeam::kMaxThreads));
  return cache.check();
}

std::vector<NamedFile> ModelFlags::inputs() const {
  std::vector<NamedFile> files = configsOf(weights);
  files.push_back({"--weights", weights});
  files.push_back({"--ir", ir});
  return files;
}

Expected<ModelFlags::Source> ModelFlags::open(const ModelConfig &overrides) const {
  Source source;
  BumpOpenOptions options;
  options.overrides = overrides;
  if (!ir.empty()) {
    auto given = loadProgram(ir);
    if (!given)
      return given.takeError();
    source.graph = std::move(*given);
    options.graphConfig = source.graph.config;
    options.graphSource = "--ir " + ir;
  }
  auto file = WeightFileFlags::open(weights, std::move(options));
  if (!file)
    return file.takeError();
  source.file = std::move(*file);
  if (ir.empty())
    source.graph = buildForwardGraph(source.file->config);
  source.graph.config = source.file->config;
  return source;
}

Expected<std::unique_ptr<Model>> ModelFlags::compile(const CKIRGraph &graph, const CompileOptions &options,
                                                     unsigned threadCount) const {
  std::optional<ObjectCache> objects = cache.cache();
  auto model = [&] {
    Progress progress("compiling");
    return Model::create(graph, graphPath(), {options, threadCount, objects ? &*objects : nullptr, link.options()});
  }();
  if (model && !(*model)->compiled().cacheNote.empty())
    errs() << "ck-jit: warning: " << (*model)->compiled().cacheNote << "\n";
  return model;
}

Error ModelFlags::load(Model &model, const BumpFile &file) const {
  Progress progress("loading " + weights);
  return model.load(file, [&](uint64_t done, uint64_t total) {
    progress.show(done, total);
    return Error::success();
  });
}
