//===- GoldenFilesTest.cpp - Files that other programs wrote --------------===//
#include "TestFiles.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

namespace {
const std::string kShared = CKJIT_SHARED_DIR;

bool sharedDataIsHere() {
  if (llvm::sys::fs::is_directory(kShared + "/golden"))
    return true;
  WARN("skipped: no shared data in " << kShared);
  return false;
}

std::unique_ptr<BumpFile> opened(const std::string &path, const BumpOpenOptions &options = {}) {
  INFO(openError(path, options));
  auto file = BumpFile::open(path, options);
  REQUIRE(static_cast<bool>(file));
  return std::move(*file);
}
} // namespace

TEST_CASE("files made by other writers open, with their SHA-256 right") {
  if (!sharedDataIsHere())
    return;
  for (const char *name : {"golden/a_mha_fp32", "golden/b_gqa_fp32", "golden/b_gqa_full", "golden/c_awkward_dims",
                           "golden/d_nope_pos", "golden/e_q4k", "golden/f_q6k", "golden/g_mixed", "golden/h_train_gqa",
                           "golden/h_train_mha", "golden/i_decode", "data/stories260K"}) {
    INFO(name);
    auto file = opened(kShared + "/" + name + "/model.bump");
    CHECK(file->checksum == ChecksumState::Ok);
    CHECK(file->configSource == "config.json beside the file");
    CHECK(file->tensors.back().fileOffset + file->tensors.back().bytes == file->fileBytes);
    CHECK(llvm::cantFail(file->findNonFinite()) == std::nullopt);
  }
}

TEST_CASE("padding of golden c is where forEachLogicalRun says") {
  if (!sharedDataIsHere())
    return;
  auto file = opened(kShared + "/golden/c_awkward_dims/model.bump");
  for (size_t t = 0; t < file->tensors.size(); ++t) {
    const TensorSpec &spec = file->tensors[t].spec;
    std::vector<float> values(spec.elements());
    REQUIRE(llvm::toString(file->readTensor(t, values.data(), 4 * values.size())) == "");
    int64_t zeros = 0, logical = 0;
    spec.forEachLogicalRun([&](int64_t first, int64_t count) {
      logical += count;
      for (int64_t i = first; i < first + count; ++i) {
        zeros += values[i] == 0.0f;
        values[i] = 0.0f;
      }
    });
    INFO(spec.name << " of layer " << spec.layer);
    CHECK(zeros == 0);
    CHECK(std::count(values.begin(), values.end(), 0.0f) == spec.elements());
    CHECK(logical > 0);
  }
}

TEST_CASE("dtypes of golden g are those of its README") {
  if (!sharedDataIsHere())
    return;
  auto file = opened(kShared + "/golden/g_mixed/model.bump");
  auto dtype = [&](const char *name, int layer) {
    for (const BumpTensor &tensor : file->tensors)
      if (tensor.spec.name == name && tensor.spec.layer == layer)
        return dtypeName(tensor.dtype).str();
    return std::string("none");
  };
  CHECK(dtype("token_emb", -1) == "q6_k");
  CHECK(dtype("wk", 0) == "q6_k");
  CHECK(dtype("wv", 0) == "fp32");
  CHECK(dtype("wo", 0) == "q6_k");
  CHECK(dtype("w2", 0) == "q6_k");
  CHECK(dtype("wq", 0) == "q4_k");
  CHECK(dtype("wq", 1) == "q6_k");
  CHECK(dtype("w2", 1) == "q4_k");
  CHECK(dtype("pos_emb", -1) == "fp32");
}

TEST_CASE("a headerless payload of another writer reads with --raw") {
  if (!sharedDataIsHere())
    return;
  std::string dir = kShared + "/golden/h_train_gqa/";
  auto file = opened(dir + "weights_after.bin", {.allowRaw = true});
  CHECK(file->kind == BumpKind::Raw);
  CHECK(file->fileBytes == 148736);
}

TEST_CASE("our writer gives the bytes of golden c's tensors back") {
  if (!sharedDataIsHere())
    return;
  std::string path = kShared + "/golden/c_awkward_dims/model.bump";
  auto file = opened(path);
  TempDir dir;
  size_t index = 0;
  REQUIRE(llvm::toString(writeBump(dir.file("copy.bump"), file->config, [&](const TensorSpec &, float *dst) {
            llvm::cantFail(file->readTensor(index, dst, file->tensors[index].bytes));
            ++index;
          })) == "");
  // Header, checksum, table and tensors alike; the copy has its config at the end.
  std::string original = readBytes(path), copy = readBytes(dir.file("copy.bump"));
  CHECK(withoutFooter(copy) == original);
}
