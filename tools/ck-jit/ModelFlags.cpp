//===- ModelFlags.cpp - Options of the verbs that run a model -------------===//
#include "ModelFlags.h"
#include "GraphOptions.h"
#include "Progress.h"
#include "Verbs.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

ModelFlags::ModelFlags(cl::SubCommand &command)
    : weights("weights", cl::sub(command), cl::value_desc("FILE"), cl::desc("The weight file (BUMP)")),
      config("config", cl::sub(command), cl::value_desc("FILE"),
             cl::desc("The model's config.json (default: the file's footer, else config.json beside it)")),
      ir("ir", cl::sub(command), cl::value_desc("FILE"), cl::desc("Run this graph (ck-jit ir --json) instead")),
      raw("raw", cl::sub(command), cl::desc("Accept a headerless weight file")),
      checksum("checksum", cl::sub(command), cl::desc("Check the SHA-256 also of a file larger than 256 MiB")),
      noChecksum("no-checksum", cl::sub(command), cl::desc("Don't check the SHA-256")),
      weightType("weight-dtype", cl::sub(command), cl::value_desc("FORMAT"), cl::desc(kWeightTypeHelp)),
      threads("threads", cl::sub(command), cl::value_desc("N"), cl::init(0),
              cl::desc("Threads (default: all usable cores)")),
      cache(command), link(command) {}

Error ModelFlags::check() const {
  if (weights.empty())
    return usageError("give --weights FILE");
  if (!ir.empty() && !config.empty())
    return usageError("give --config or --ir, not both: an IR file holds its config");
  if (checksum && noChecksum)
    return usageError("--checksum and --no-checksum exclude each other; give one of them");
  if (threads > ThreadTeam::kMaxThreads)
    return usageError("--threads is " + Twine(threads) + ", expected at most " + Twine(ThreadTeam::kMaxThreads));
  return cache.check();
}

std::vector<NamedFile> ModelFlags::inputs() const {
  SmallString<128> beside = sys::path::parent_path(weights);
  sys::path::append(beside, "config.json");
  return {{"--weights", weights}, {"--config", config}, {"--ir", ir},
          {"the config beside the weights", std::string(beside)}};
}

Expected<ModelFlags::Source> ModelFlags::open(const ModelConfig &overrides) const {
  Source source;
  BumpOpenOptions options;
  options.configPath = config;
  options.allowRaw = raw;
  options.weightType = givenType(weightType);
  options.overrides = overrides;
  if (noChecksum || checksum)
    options.verifyChecksum = static_cast<bool>(checksum);
  if (!ir.empty()) {
    auto given = loadProgram(ir);
    if (!given)
      return given.takeError();
    source.graph = std::move(*given);
    options.graphConfig = source.graph.config;
    options.graphSource = "--ir " + ir;
  }
  Progress progress("checking " + weights);
  options.progress = [&](uint64_t done, uint64_t total) {
    progress.show(done, total);
    return Error::success();
  };
  auto file = BumpFile::open(weights, options);
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
