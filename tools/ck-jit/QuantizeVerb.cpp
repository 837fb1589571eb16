//===- QuantizeVerb.cpp - ck-jit quantize: a model in another format ------===//
#include "Progress.h"
#include "Verbs.h"
#include "WeightFileFlags.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <fmt/format.h>

using namespace llvm;

namespace ckjit::tool {
namespace {

/// Lives as long as the subcommand that refers to it.
const std::string kDescription =
    ("Write a model in another weight format\n\n"
     "  Reads the weight file IN and writes its weights in the formats that are asked for, as a BUMPWGT3\n"
     "  file with the config in its footer, and prints what each weight cost: bytes, and the error that\n"
     "  the format makes. Smaller weights are read faster, and each decoded token reads them all. The\n"
     "  formats:\n\n" +
     kFormatHelp +
     "\n"
     "  IN may be quantized itself: weights that have their format already are copied, others decoded and\n"
     "  encoded anew, which adds up both errors, so that an fp32 file is the better source. The file is\n"
     "  the same for any number of threads and on every CPU.\n\n"
     "  Examples:\n"
     "    ck-jit quantize model.bump -o small.bump --type q4_k --embed q6_k\n"
     "    ck-jit quantize model.bump -o small.bump --type q4_k --layers 0-1=q6_k --layers 29=q8_0\n"
     "    ck-jit quantize model.bump --type q8_0 --dry-run\n"
     "    ck-jit quantize small.bump -o fp32.bump --type fp32")
        .str();

cl::SubCommand quantizeCommand("quantize", kDescription);

PathOption inPath(cl::Positional, cl::sub(quantizeCommand), cl::value_desc("IN"), cl::desc("IN"));
PathOption outPath("o", cl::sub(quantizeCommand), cl::value_desc("FILE"), cl::desc("The file to write"));
FormatFlags formats(quantizeCommand);
cl::opt<bool> dryRun("dry-run", cl::sub(quantizeCommand), cl::desc("Do all but write: print errors and sizes"));
cl::opt<unsigned> threads("threads", cl::sub(quantizeCommand), cl::value_desc("N"), cl::init(0),
                          cl::desc("Threads (default: all usable cores)"));
WeightFileFlags fileFlags(quantizeCommand);
cl::opt<bool> jsonFlag("json", cl::sub(quantizeCommand), cl::desc("Print JSON for programs"));

Error checkUsage() {
  if (inPath.empty())
    return usageError("no weight file named: ck-jit quantize IN -o FILE --type FORMAT");
  if (formats.type.empty())
    return usageError("no format named: give --type FORMAT, such as --type q4_k");
  if (outPath.empty() && !dryRun)
    return usageError("no file to write: give -o FILE, or --dry-run");
  if (!outPath.empty() && dryRun)
    return usageError("-o and --dry-run exclude each other; give one of them");
  if (Error error = fileFlags.check())
    return error;
  if (threads > ThreadTeam::kMaxThreads)
    return usageError("--threads is " + Twine(threads) + ", expected at most " + Twine(ThreadTeam::kMaxThreads));
  std::vector<NamedFile> inputs = fileFlags.configsOf(inPath);
  inputs.push_back({"IN", inPath});
  return checkOutput({"-o", outPath}, inputs, Dash::Refused);
}

Expected<std::vector<TensorLoss>> convert(const BumpFile &file, const FormatChoice &choice) {
  Expected<std::unique_ptr<ThreadTeam>> team = ThreadTeam::create(threads);
  if (!team)
    return team.takeError();
  Progress progress("quantizing " + inPath);
  ConvertOptions options;
  options.parallel = onTeam(**team);
  options.sourceName = inPath;
  options.progress = [&](int64_t done, int64_t total) {
    progress.show(done, total);
    return Error::success();
  };
  return writeConverted(outPath, file.config, choice.types, *fileSource(file), options);
}

/// A tensor, or several summed up.
struct Row {
  std::string name;
  StringRef from = "", to = "", wanted = ""; ///< wanted: only where it isn't `to`
  std::string remark = "";
  uint64_t before = 0, after = 0;
  int64_t elements = 0;
  TensorLoss loss = {};

  void add(const Row &other) {
    before += other.before;
    after += other.after;
    elements += other.elements;
    loss.squaredError += other.loss.squaredError;
    loss.squares += other.loss.squares;
  }
};

std::vector<Row> rowsOf(const BumpFile &file, const FormatChoice &choice, ArrayRef<TensorLoss> losses) {
  std::vector<TensorSpec> written = weightTensors(file.config, choice.types);
  std::vector<Row> rows;
  for (auto [tensor, spec, type, loss] : zip_equal(file.tensors, written, choice.types, losses))
    rows.push_back({.name = tensorLabel(spec), .from = dtypeName(tensor.dtype), .to = dtypeName(type),
                    .before = tensor.bytes, .after = static_cast<uint64_t>(*storedBytes(spec.shape, type)),
                    .elements = spec.elements(), .loss = loss});
  for (const FormatFallback &fallback : choice.fallbacks) {
    rows[fallback.tensor].wanted = dtypeName(fallback.wanted);
    rows[fallback.tensor].remark =
        fmt::format("not {}: rows of {}", dtypeName(fallback.wanted).str(), fallback.row);
  }
  return rows;
}

void printRow(const Row &row) {
  std::string error = row.loss.squaredError == 0 ? "-" : fmt::format("{:.3f} %", 100 * row.loss.relativeRms());
  std::string line = fmt::format("  {:<22}{:<8}{:<8}{:>10}{:>16}{:>16}  {}", row.name, row.from.str(), row.to.str(), error, row.before,
                                 row.after, row.remark);
  outs() << StringRef(line).rtrim() << "\n";
}

void printText(const BumpFile &file, ArrayRef<Row> rows) {
  outs() << fmt::format("  {:<22}{:<8}{:<8}{:>10}{:>16}{:>16}\n", "weight", "from", "to", "error", "bytes before", "after");
  Row others{.name = "norms, biases, ...", .from = "fp32", .to = "fp32"}, matrices{.name = "all weights"}, total{.name = "all"};
  for (auto [tensor, row] : zip_equal(file.tensors, rows)) {
    total.add(row);
    (mayBeQuantized(tensor.spec.name) ? matrices : others).add(row);
    if (mayBeQuantized(tensor.spec.name))
      printRow(row);
  }
  printRow(others);
  outs() << fmt::format("{:.2f} bits a weight, error {:.3f} %; {} bytes of tensors become {}, {:.1f} %\n",
                        8.0 * static_cast<double>(matrices.after) / static_cast<double>(matrices.elements),
                        100 * matrices.loss.relativeRms(), total.before, total.after,
                        100.0 * static_cast<double>(total.after) / static_cast<double>(total.before));
}

void printJson(const BumpFile &file, ArrayRef<Row> rows) {
  Row matrices, total;
  json::OStream out(outs(), /*IndentSize=*/2);
  out.object([&] {
    out.attribute("in", json::fixUTF8(inPath));
    if (!dryRun)
      out.attribute("out", json::fixUTF8(outPath));
    out.attributeArray("tensors", [&] {
      for (auto [index, row] : enumerate(rows)) {
        const TensorSpec &spec = file.tensors[index].spec;
        total.add(row);
        if (mayBeQuantized(spec.name))
          matrices.add(row);
        out.object([&] {
          out.attribute("name", spec.name);
          if (spec.layer >= 0)
            out.attribute("layer", spec.layer);
          out.attribute("from", row.from);
          out.attribute("to", row.to);
          if (!row.wanted.empty())
            out.attribute("wanted", row.wanted);
          out.attribute("relative_rms", row.loss.relativeRms());
          out.attribute("bytes_before", row.before);
          out.attribute("bytes_after", row.after);
        });
      }
    });
    out.attribute("relative_rms", matrices.loss.relativeRms());
    out.attribute("bytes_before", total.before);
    out.attribute("bytes_after", total.after);
  });
  outs() << "\n";
}

Error run() {
  Expected<FormatRequest> request = formats.request();
  if (!request)
    return request.takeError();
  if (Error error = checkUsage())
    return error;
  Expected<std::unique_ptr<BumpFile>> file = fileFlags.open(inPath);
  if (!file)
    return file.takeError();
  Expected<FormatChoice> choice = chooseFormats((*file)->config, *request);
  if (!choice)
    return choice.takeError();
  noteFallbacks((*file)->config, *choice);
  Expected<std::vector<TensorLoss>> losses = convert(**file, *choice);
  if (!losses)
    return losses.takeError();
  std::vector<Row> rows = rowsOf(**file, *choice, *losses);
  if (jsonFlag) {
    printJson(**file, rows);
    return Error::success();
  }
  printText(**file, rows);
  uint64_t bytes = 0;
  if (dryRun)
    outs() << "nothing written (--dry-run)\n";
  else if (std::error_code code = sys::fs::file_size(outPath, bytes))
    return createStringError(code, outPath + ": its size cannot be read: " + code.message());
  else
    outs() << fmt::format("wrote {} ({} bytes)\n", outPath.getValue(), bytes);
  return Error::success();
}

} // namespace

Verb quantizeVerb() { return {&quantizeCommand, run}; }

} // namespace ckjit::tool
