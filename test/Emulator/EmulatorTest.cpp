//===- EmulatorTest.cpp - AVX-512 kernels where no CPU runs them ----------===//
//
// The programs of QuantizedTest.cpp, compiled for AVX-512 and run by Bochs, against plain dequantized weights in double.
//
//===----------------------------------------------------------------------===//
#include "Emulator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;
using llvm::formatv;
using llvm::StringRef;

namespace {

/// AVX-512 without byte dot products.
const TargetDescription &wideTarget() {
  static const TargetDescription target = must(describeTarget("x86-64-v4"));
  return target;
}

/// An instruction of that name on 512-bit registers.
bool holds(const CompiledObject &compiled, StringRef name) {
  return llvm::any_of(instructionsOf(compiled), [&](StringRef instruction) {
    return llvm::is_contained(llvm::split(instruction, '\t'), name) && instruction.contains("%zmm");
  });
}

/// Codes and floats on the target, of every format, in panels and in rows.
void forEmulated(const TargetDescription &target, llvm::function_ref<void(const Mode &)> check) {
  for (const WeightFormat &format : weightFormats())
    for (bool panels : {true, false})
      for (bool int8 : {true, false})
        if (format.isQuantized() || !int8)
          check({target, format.type, panels, int8, /*strict=*/false});
}

struct Batch {
  std::vector<std::unique_ptr<OpRun>> ops;
  std::vector<std::string> names;

  void add(std::unique_ptr<OpRun> op, std::string name) {
    ops.push_back(std::move(op));
    names.push_back(std::move(name));
  }
  void add(const Mode &mode, const MatrixOp &op, const MatrixShape &s, bool variant) {
    add(op.prepare(mode, s, variant),
        formatv("{0}: {1} of {2} rows, {3} blocks but {4} features, {5} tokens, variant {6}", mode.text(),
                op.name, s.rows, s.blocks, s.unused, s.tokens, variant));
  }
  void check() {
    if (llvm::Error error = runEmulated(ops))
      FAIL(llvm::toString(std::move(error)));
    for (auto [op, name] : llvm::zip_equal(ops, names)) {
      INFO(name);
      op->compare();
    }
  }
};

} // namespace

TEST_CASE("AVX-512 VNNI: weights of every format in codes and floats, panels and rows") {
  const auto shapes = matrixShapes();
  const auto ops = matrixOps();
  Batch batch;
  size_t turn = 0;
  forEmulated(emulatedTarget(), [&](const Mode &mode) {
    const size_t first = batch.ops.size();
    batch.add(mode, ops[0], {7, 5, 1, 1}, true);
    batch.add(mode, ops[0], {18, 9, 7, 17}, false);
    batch.add(mode, ops[1 + turn % (ops.size() - 1)], shapes[turn % shapes.size()], turn % 2 == 0);
    ++turn;
    INFO(mode.text());
    for (size_t i = first; i < first + 2; ++i)
      CHECK(holds(batch.ops[i]->kernel.compiled(), mode.int8 ? "vpdpbusd" : "vfmadd231ps"));
  });
  batch.check();
}

TEST_CASE("AVX-512 without VNNI: weights of every format in codes") {
  const auto ops = matrixOps();
  Batch batch;
  size_t turn = 0;
  forEmulated(wideTarget(), [&](const Mode &mode) {
    if (!mode.int8)
      return;
    const size_t first = batch.ops.size();
    batch.add(mode, ops[0], {18, 9, 7, 17}, turn++ % 2 == 0);
    INFO(mode.text());
    CHECK_FALSE(holds(batch.ops[first]->kernel.compiled(), "vpdpbusd"));
    CHECK((holds(batch.ops[first]->kernel.compiled(), "vpmaddubsw") ||
           holds(batch.ops[first]->kernel.compiled(), "vpmaddwd")));
  });
  batch.check();
}

TEST_CASE("AVX-512: codes all at an end times activations all at an end don't saturate") {
  Batch batch;
  for (const TargetDescription *target : {&emulatedTarget(), &wideTarget()})
    forEmulated(*target, [&](const Mode &mode) {
      if (!mode.int8)
        return;
      batch.add(prepareLinear(mode, {5, 2, 0, 17}, false, Blocks::Least), mode.text() + ", least");
      batch.add(prepareLinear(mode, {5, 2, 0, 17}, false, Blocks::Most), mode.text() + ", most");
    });
  batch.check();
}

TEST_CASE("another scale of a row changes the emulator's results for that row, and for no other") {
  constexpr int64_t kRows = 9, kBlocks = 4, kChanged = 5;
  for (bool panels : {true, false}) {
    const Mode mode{emulatedTarget(), DType::Q8_0, panels, /*int8=*/true, /*strict=*/false};
    std::vector<std::unique_ptr<OpRun>> ops;
    for (int i = 0; i < 2; ++i)
      ops.push_back(prepareLinear(mode, {kRows, kBlocks, 0, 3}, false));
    const int64_t rowBytes = kBlocks * formatOf(mode.type).bytes;
    setScale(mode.type, ops[1]->kernel.bytes("w").data() + kChanged * rowBytes, 0x3C00); // 1, far above all others
    REQUIRE(llvm::toString(runEmulated(ops)) == "");
    ops[1]->compare();
    const Activation y(ops[0]->kernel, mode, "y", kRows), changed(ops[1]->kernel, mode, "y", kRows);
    for (int64_t t = 0; t < ops[0]->tokens; ++t)
      for (int64_t n = 0; n < kRows; ++n) {
        INFO(mode.text() << ", token " << t << ", row " << n);
        CHECK((y.at(t, n) == changed.at(t, n)) == (n != kChanged));
      }
  }
}

TEST_CASE("a program that ends the emulated processor is told, and which one it is") {
  // Its byte dot products are AVX-VNNI's, which a Tiger Lake hasn't.
  const TargetDescription foreign = must(describeTarget("alderlake"));
  std::vector<std::unique_ptr<OpRun>> ops;
  for (const TargetDescription *target : {&emulatedTarget(), &foreign, &emulatedTarget()})
    ops.push_back(prepareLinear({*target, DType::Q8_0, /*panels=*/true, /*int8=*/true, /*strict=*/false}, {9, 4, 0, 3},
                                false));
  CHECK_THAT(llvm::toString(runEmulated(ops)), Contains("program 1 of 3 didn't come to its end"));
}
