//===- QuantizedTest.cpp - Kernels on weights of every format -------------===//
//
// Differential: every op, format and target, activations in panels and rows, as floats and in codes, against the plain
// dequantized weights in double.
//
//===----------------------------------------------------------------------===//
#include "QuantizedOps.h"
#include "Support/SplitMix.h"
#include "ckjit/Weights/BlockCodec.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <cstring>

using namespace ckjit;
using namespace ckjit::test;
using llvm::formatv;

namespace {

/// Runs for 1, 2 and 3 threads and checks that all write the same bits, and the right ones.
void check(OpRun &op) {
  std::vector<uint8_t> first;
  for (unsigned threads : {1u, 3u, 2u}) {
    op.kernel.poisonOutputs();
    op.kernel.run(op.tokens, op.firstRow, threads, op.position);
    const llvm::ArrayRef<uint8_t> bytes = op.kernel.bytes("y");
    if (first.empty())
      first = bytes.vec();
    INFO("threads " << threads);
    CHECK(llvm::ArrayRef<uint8_t>(first) == bytes);
  }
  op.compare();
}

void check(const MatrixOp &op, const Mode &mode, const MatrixShape &s, bool variant) {
  INFO(op.name << " of " << s.rows << " rows, " << s.blocks << " blocks but " << s.unused << " features, " << s.tokens
               << " tokens, variant " << variant);
  check(*op.prepare(mode, s, variant));
}

/// A mode with codes where there are blocks, for each target and layout.
void forInt8(llvm::function_ref<void(const Mode &)> run) {
  forModes([&](const Mode &mode) {
    if (mode.int8)
      run(mode);
  });
}

} // namespace

TEST_CASE("weights of every format on every target: an op and a shape a mode, in turn") {
  const auto ops = matrixOps();
  const auto shapes = matrixShapes();
  size_t turn = 0;
  forModes([&](const Mode &mode) {
    for (size_t i = 0; i < (mode.strict ? 1 : 2); ++i, ++turn) // compiling takes most of the time
      check(ops[turn % ops.size()], mode, shapes[turn / 2 % shapes.size()], turn / 6 % 2 == 0);
  });
}

TEST_CASE("weights of every format on every target: all ops, two shapes each", "[.][long]") {
  const auto shapes = matrixShapes();
  size_t turn = 0;
  forModes([&](const Mode &mode) {
    for (const MatrixOp &op : matrixOps())
      for (int i = 0; i < 2; ++i, ++turn)
        check(op, mode, shapes[turn % shapes.size()], turn / 2 % 2 == 0);
  });
}

TEST_CASE("codes all at an end times activations all at an end don't saturate") {
  for (Blocks blocks : {Blocks::Least, Blocks::Most})
    forInt8([&](const Mode &mode) {
      INFO((blocks == Blocks::Least ? "least" : "most"));
      check(*prepareLinear(mode, {5, 2, 0, 17}, false, blocks));
    });
}

TEST_CASE("what is left of a row behind whole vectors is unpacked and met in its own order") {
  forInt8([&](const Mode &mode) {
    if (!mode.panels && formatOf(mode.type).elements == 32)
      check(*prepareLinear(mode, {3, 15, 0, 2}, false)); // 8 blocks, 4, 2 and 1
  });
}

TEST_CASE("codes of activations are rounded half to even, and zeros have none") {
  forInt8([](const Mode &mode) {
    const int64_t width = 256, rows = 1;
    KernelText text = textFor(mode);
    text.in("x", activationShape(mode, width)).in("w", weightShape(mode, {rows, width}), elementOf(mode.type));
    text.in("b", {rows}).out("y", activationShape(mode, rows));
    text.op("ck.linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows 1 depth 256");
    KernelRun run(text, false, mode.target, true);
    const Activation x(run, mode, "x", width), y(run, mode, "y", rows);
    fillBlocks(mode.type, run.bytes("w"), Blocks::Most, 2);
    *run.floats("b") = 3.25f;
    // Scale 1 by the 127 in front of each block of 32, then quotients in the middle of two codes.
    for (int64_t k = 0; k < width; ++k) {
      x.at(0, k) = k % 32 == 0 ? 127.0f : static_cast<float>(k % 13) + 0.5f;
      x.at(1, k) = k % 32 == 0 ? -127.0f : -static_cast<float>(k % 13) - 0.5f;
      x.at(2, k) = k % 2 ? -0.0f : 0.0f;
    }
    run.run(3);
    const Oracle oracle(mode, run.bytes("w"), width);
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < width; ++k) {
      const int64_t even = (k % 13 + 1) / 2 * 2; // of n + 1/2: n or n + 1
      sum += static_cast<double>(oracle.weight(0, k)) * static_cast<double>(k % 32 == 0 ? 127 : even);
      magnitude += 3 * std::abs(static_cast<double>(oracle.weight(0, k))) * 127;
    }
    WorstElement worst;
    const double allowed = 40 * kRounding * magnitude / 10;
    worst.compare(y.at(0, 0), 3.25 + sum, allowed, 0, 0);
    worst.compare(y.at(1, 0), 3.25 - sum, allowed, 1, 0);
    worst.compare(y.at(2, 0), 3.25, 0, 2, 0);
    INFO(worst.text());
    CHECK(worst.fits());
  });
}

TEST_CASE("activations from the least to the largest magnitude") {
  forModes([](const Mode &mode) {
    if (mode.strict)
      return;
    const int64_t width = 256, rows = 3;
    KernelText text = textFor(mode);
    text.in("x", activationShape(mode, width)).in("w", weightShape(mode, {rows, width}), elementOf(mode.type));
    text.in("b", {rows}).out("y", activationShape(mode, rows));
    text.op("ck.linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows 3 depth 256");
    KernelRun run(text, false, mode.target, mode.int8);
    const Activation x(run, mode, "x", width), y(run, mode, "y", rows);
    fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
    std::fill_n(run.floats("b"), rows, 0.0f);
    const float scales[] = {0x1p-149f, 0x1p-126f, 1e-35f, 1e30f};
    SplitMix rng(9);
    for (int64_t t = 0; t < 4; ++t)
      for (int64_t k = 0; k < width; ++k)
        x.at(t, k) = (rng.chance(50) ? 1.0f : -1.0f) * scales[t];
    run.run(4);
    const Oracle oracle(mode, run.bytes("w"), width);
    WorstElement worst;
    for (int64_t t = 0; t < 4; ++t)
      for (int64_t n = 0; n < rows; ++n) {
        const Exact exact = oracle.dot(x.token(t, 0, width), n);
        worst.compare(y.at(t, n), exact.value, oracle.allowed(exact), t, n);
      }
    INFO(worst.text());
    CHECK(worst.fits());
  });
}

TEST_CASE("what isn't finite makes its own row or token not finite, and no other") {
  constexpr uint16_t kHalves[] = {0x7C00, 0xFC00, 0x7E00, 0x7C01}; // Inf, -Inf, NaN, one that signals
  size_t turn = 0;
  forModes([&](const Mode &mode) {
    const int64_t width = 512, rows = 9, tokens = mode.panels ? 17 : 4, badRow = 5, badToken = 2;
    KernelText text = textFor(mode);
    text.in("x", activationShape(mode, width)).in("w", weightShape(mode, {rows, width}), elementOf(mode.type));
    text.in("b", {rows}).out("y", activationShape(mode, rows));
    text.op("ck.linear ins(%x, %w, %b : $x, $w, $b) outs(%y : $y) rows 9 depth 512");
    KernelRun run(text, mode.strict, mode.target, mode.int8);
    const Activation x(run, mode, "x", width), y(run, mode, "y", rows);
    fill(x, tokens, width, 1);
    fillBlocks(mode.type, run.bytes("w"), Blocks::Mixed, 2);
    run.fill("b", 3);
    const WeightFormat &format = formatOf(mode.type);
    const uint16_t half = kHalves[turn % 4];
    // The last block of the row, at whose end a step isn't whole either.
    uint8_t *block = run.bytes("w").data() + (badRow + 1) * width / format.elements * format.bytes - format.bytes;
    setScale(mode.type, block, mode.type == DType::BF16 ? floatToBf16(halfToFloat(half)) : half);
    const auto check = [&](bool badActivation) {
      run.run(tokens, 0, 2);
      int64_t wrong = 0;
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t n = 0; n < rows; ++n)
          wrong += std::isfinite(y.at(t, n)) == (n == badRow || (badActivation && t == badToken));
      INFO("half " << half << ", bad activation " << badActivation);
      CHECK(wrong == 0);
    };
    check(false);
    const float bad[] = {INFINITY, -INFINITY, NAN};
    x.at(badToken, 300) = bad[turn++ % 3];
    check(true);
  });
}
