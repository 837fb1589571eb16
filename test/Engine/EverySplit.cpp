//===- EverySplit.cpp - One text, in pieces of all lengths ----------------===//
#include "EverySplit.h"
#include "Support/SplitMix.h"
#include "ckjit/Import/Import.h"
#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <set>

using namespace llvm;

namespace ckjit::test {
namespace {
/// SPEC 0.5: between different kernels of one computation.
constexpr double kShare = 1e-5;
constexpr float kUntouched = -7.0f;

std::set<int64_t> lengthsOf(int64_t total) {
  std::set<int64_t> lengths;
  for (int64_t length : {int64_t{1}, int64_t{2}, int64_t{15}, int64_t{16}, int64_t{17}, int64_t{31}, int64_t{33},
                         total - 1, total})
    if (length >= 1 && length <= total)
      lengths.insert(length);
  return lengths;
}

using Pieces = std::vector<int64_t>;

/// Cuts `length` into pieces of the lengths that `next` gives, the last of what is left.
Pieces cut(int64_t length, function_ref<int64_t()> next) {
  Pieces pieces;
  for (int64_t at = 0; at < length; at += pieces.back())
    pieces.push_back(std::min(std::max<int64_t>(1, next()), length - at));
  return pieces;
}

/// `few`: tokens that the program in rows takes.
std::set<Pieces> splitsOf(int64_t length, int64_t few) {
  std::set<Pieces> splits;
  for (int64_t piece : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}, int64_t{5}, int64_t{7}, int64_t{16},
                        int64_t{17}, hostLanes() - 1, hostLanes(), hostLanes() + 1, length - 1, length})
    splits.insert(cut(length, [&] { return piece; }));
  if (length > 1)
    splits.insert({1, length - 1});
  SplitMix rng(static_cast<uint64_t>(length));
  const auto between = [&](int64_t least, int64_t most) {
    return cut(length, [&] { return least + static_cast<int64_t>(rng.below(static_cast<uint64_t>(most - least + 1))); });
  };
  for (int repeat = 0; repeat < 3; ++repeat) {
    splits.insert(between(1, few));
    splits.insert(between(few + 1, 3 * few));
    splits.insert(between(1, length));
  }
  return splits;
}

std::string textOf(const Pieces &pieces) {
  std::string text;
  for (int64_t piece : pieces)
    text += " " + std::to_string(piece);
  return text;
}

/// The last row alone of `length` tokens, in one go and behind a split.
void checkRowsAsked(Model &model, ArrayRef<int32_t> tokens, const WholeLogits &whole) {
  const int64_t length = static_cast<int64_t>(tokens.size()), vocab = model.config().vocabSize;
  const int64_t few = maxTokensInRows(model.weightTypes());
  const auto check = [&](int64_t position, int64_t firstRow) {
    const int64_t count = length - position;
    float *logits = model.buffer("logits");
    std::fill_n(logits, static_cast<size_t>(count * vocab), kUntouched);
    must(model.prefill(tokens.drop_front(static_cast<size_t>(position)), firstRow, {}, position));
    INFO("rows from " << firstRow << " of " << count << " at position " << position);
    CHECK(std::all_of(logits, logits + firstRow * vocab, [](float value) { return value == kUntouched; }));
    const bool inRows = model.hasDecode() && length <= few;
    const std::vector<float> &all = inRows ? whole.singles : whole.atOnce;
    if (position == 0)
      CHECK(sameBits({logits + firstRow * vocab, logits + count * vocab},
                     ArrayRef(all).slice(static_cast<size_t>(firstRow * vocab), static_cast<size_t>((count - firstRow) * vocab))));
  };
  check(0, length - 1);
  check(0, length / 2);
  if (length > few) // behind a cache: few tokens, and more
    check(length - few, few / 2), check(length - few - 1, few);
}
} // namespace

WholeLogits checkEverySplit(Model &model, ArrayRef<int32_t> tokens, ArrayRef<double> expected, double tolerance) {
  const size_t vocab = static_cast<size_t>(model.config().vocabSize);
  const int64_t most = maxTokensInRows(model.weightTypes());
  const auto few = [&](int64_t piece) { return model.hasDecode() && piece <= most; };
  const WholeLogits whole{runLogits(model, tokens), runPieces(model, tokens, {1})};
  const std::vector<double> exact(whole.atOnce.begin(), whole.atOnce.end());
  for (int64_t length : lengthsOf(static_cast<int64_t>(tokens.size()))) {
    const ArrayRef<int32_t> text = tokens.take_front(static_cast<size_t>(length));
    const size_t count = static_cast<size_t>(length) * vocab;
    const ArrayRef<double> here = ArrayRef(exact).take_front(count);
    for (const Pieces &pieces : splitsOf(length, most)) {
      INFO("length " << length << ", pieces" << textOf(pieces));
      const std::vector<float> found = runPieces(model, text, pieces);
      const Distance right = distanceOf(found, expected.take_front(count), vocab);
      INFO(right.text());
      CHECK(right.worst <= tolerance);
      if (all_of(pieces, few)) {
        CHECK(sameBits(found, ArrayRef(whole.singles).take_front(count)));
      } else if (none_of(pieces, few)) {
        CHECK(sameBits(found, ArrayRef(whole.atOnce).take_front(count)));
      }
      CHECK(distanceOf(found, here, vocab).worst <= kShare * largestOf(here));
    }
    INFO("length " << length);
    checkRowsAsked(model, text, whole);
  }
  return whole;
}

} // namespace ckjit::test
