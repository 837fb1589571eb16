//===- Bump.h - Reader and writer of the weight file ------------*- C++ -*-===//
#ifndef CKJIT_WEIGHTS_BUMP_H
#define CKJIT_WEIGHTS_BUMP_H

#include "ckjit/Layout/ArenaPlan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <functional>
#include <memory>
#include <optional>

namespace ckjit {

class RegularFile;

enum class BumpKind : uint8_t { V3, V2, Raw };

/// "BUMPWGT3", "BUMPWGT2" or "headerless".
llvm::StringRef bumpKindName(BumpKind kind);

/// The 128-byte header (SPEC 2.1).
struct BumpHeader {
  uint32_t version = 3, modelType = 1, numLayers = 0, vocabSize = 0, embedDim = 0, context = 0,
           numHeads = 0, headDim = 0;
  uint64_t alignedEmbed = 0, alignedHead = 0, alignedContext = 0;
  std::array<uint8_t, 32> sha256{};
};

struct BumpTensor {
  TensorSpec spec;
  DType dtype = DType::FP32;
  uint64_t fileOffset = 0;
  uint64_t bytes = 0;
};

struct BumpOpenOptions {
  std::string configPath = "";  ///< --config FILE; else footer, else config.json beside the file
  std::string configOption = "--config FILE"; ///< how messages ask for it
  /// The config of a graph the caller already has (--ir FILE); goes before all other sources.
  std::optional<ModelConfig> graphConfig = std::nullopt;
  std::string graphSource = "the graph"; ///< names it in messages and in BumpFile::configSource
  bool allowRaw = false;        ///< --raw: accept a file without magic
  /// Of all weights that may have another type than fp32, in a file that has no dtype table; unset: fp32. Error for one
  /// that has.
  std::optional<DType> weightType = std::nullopt;
  std::optional<bool> verifyChecksum = std::nullopt; ///< unset: verify files up to 256 MiB
  /// Hears how many bytes of the payload have been hashed; an error stops and is the result.
  std::function<llvm::Error(uint64_t done, uint64_t total)> progress = nullptr;
  /// Seed overrides (--layers, --embed, ...), 0 = not given. Checked against
  /// header and config; contextWindow may be smaller than the file's.
  ModelConfig overrides{.vocabSize = 0, .contextWindow = 0};
};

/// Absent: headerless, or a BUMPWGT2 header whose checksum is all zero.
enum class ChecksumState : uint8_t { NotChecked, Ok, Absent };

/// An open weight file: everything SPEC 0.2 asks for has been checked.
class BumpFile {
public:
  /// Opens and checks. Errors name file, field, value found, value expected.
  static llvm::Expected<std::unique_ptr<BumpFile>> open(llvm::StringRef path, const BumpOpenOptions &options = {});
  ~BumpFile();

  std::string path;         ///< as it was opened
  BumpKind kind = BumpKind::V3;
  BumpHeader header;
  ModelConfig config;       ///< contextWindow is the effective one (after overrides)
  std::string configSource; ///< "footer", "--config FILE", "config.json beside the file", graphSource
  ChecksumState checksum = ChecksumState::NotChecked;
  uint64_t fileBytes = 0;
  /// File order; pos_emb's spec has the file's rows, a quantized wo's shape is [aD][H*ad] (SPEC 2.3).
  std::vector<BumpTensor> tensors;
  /// The types of the tensors; none if all are fp32.
  WeightTypes weightTypes() const;

  /// Reads tensor `index`, at most `maxBytes` bytes of it, into `dst` (pread; thread-safe).
  llvm::Error readTensor(size_t index, void *dst, uint64_t maxBytes) const;
  /// Reads bytes of tensor `index` from `offset` on (pread; thread-safe). Error: they pass its end.
  llvm::Error readTensorPart(size_t index, uint64_t offset, llvm::MutableArrayRef<uint8_t> bytes) const;
  /// The first non-finite value: "layer 3 wq, element 17 of 331776 is nan" - or none.
  llvm::Expected<std::optional<std::string>> findNonFinite() const;

private:
  BumpFile();
  std::unique_ptr<RegularFile> file;
};

/// Takes the next elements of a tensor, padding (zeros) included.
using TensorSink = llvm::function_ref<llvm::Error(llvm::ArrayRef<float>)>;

/// Writes a complete file of fp32 tensors, atomically (temporary file beside it, fsync, rename). `produce(spec, sink)`
/// is called for each tensor in file order and gives all its elements to `sink`, in pieces of any size.
/// BUMPWGT3 ends with the config footer (SPEC 0.3); BUMPWGT2 and headerless files (SPEC 2.2) end with the last tensor,
/// so whoever reads them needs a config. On an error the file at `path` is as it was before.
llvm::Error writeBumpInPieces(llvm::StringRef path, const ModelConfig &config,
                              llvm::function_ref<llvm::Error(const TensorSpec &, TensorSink)> produce,
                              BumpKind kind = BumpKind::V3);

/// The same for tensors that are there whole: `fill(spec, dst)` puts each one's elements into a zeroed buffer; padding
/// must stay zero.
llvm::Error writeBump(llvm::StringRef path, const ModelConfig &config,
                      llvm::function_ref<void(const TensorSpec &, float *)> fill, BumpKind kind = BumpKind::V3);

/// A random model of good conditioning (logits of order 10): padding zero, seeded, the same bytes on
/// every machine, and the same tensors in every `kind` of file. Memory is bounded whatever the dims.
/// `progress` hears before each tensor how many of all elements are written.
llvm::Error writeRandomModel(llvm::StringRef path, const ModelConfig &config, uint64_t seed,
                             llvm::function_ref<void(int64_t done, int64_t total)> progress = nullptr,
                             BumpKind kind = BumpKind::V3);

/// Gives `sink` the elements of one tensor of the random model of `seed`: of `spec`, weightTensors(config)[index].
llvm::Error produceRandomTensor(const TensorSpec &spec, size_t index, const ModelConfig &config, uint64_t seed,
                                TensorSink sink);

/// Writes `bytes` to `path` whole or not at all (temporary file, fsync, rename); a program if `executable`.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef bytes, bool executable = false);

struct NewFile {
  std::string path;
  llvm::StringRef bytes;
  bool executable = false;
};
/// The same for files that belong together: none takes its place before the bytes of all are on the disk.
llvm::Error writeFilesAtomically(llvm::ArrayRef<NewFile> files);

/// For programs that own their process: from now on a signal that ends it removes what isn't written whole. Without
/// it no signal handler is set: signals are a host's own affair.
void removeTemporaryFilesOnSignals();
/// Whether it was called.
bool removesTemporaryFilesOnSignals();

/// The same for a file that can be made again, such as a cache's: readable by its owner alone, it takes the place of
/// whatever stands there, links themselves included, unless that is a directory. It doesn't wait for the disk and sets
/// no signal handler: whoever dies meanwhile leaves `path` with a dot, hex digits and ".tmp" behind.
llvm::Error writeDisposableFile(llvm::StringRef path, llvm::StringRef bytes);

/// The error that writing to `path` would end with, as far as it can be told before; leaves nothing behind.
llvm::Error checkWritable(llvm::StringRef path);

/// Token ids: int32 little-endian (SPEC 0.6). Errors: unreadable, empty, not a multiple
/// of 4, more than `context`, an id outside [0, vocab) (position and id) unless `clampIds`, which makes it 0.
llvm::Expected<std::vector<int32_t>> readTokens(llvm::StringRef path, int64_t vocab, int64_t context, bool clampIds);

} // namespace ckjit
#endif
