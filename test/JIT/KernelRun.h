//===- KernelRun.h - One ck program over named arrays -----------*- C++ -*-===//
#ifndef CKJIT_TEST_JIT_KERNELRUN_H
#define CKJIT_TEST_JIT_KERNELRUN_H

#include "ckjit/JIT/Program.h"
#include "ckjit/Runtime/Arena.h"
#include "ckjit/Runtime/ThreadTeam.h"
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

namespace ckjit::test {

/// Relative step of fp32: a rounding moves a value by at most this share.
inline constexpr double kRounding = 0x1p-24;

/// The value; else an exception with the message, which fails the test.
template <typename T> T must(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// This machine's target, described once.
const TargetDescription &hostTarget();
/// Tokens of a panel on this machine.
int64_t hostLanes();
/// Panels that hold `tokens` tokens here.
int64_t panelsFor(int64_t tokens);

/// The text of a ck program over extra buffers, put together op by op.
class KernelText {
public:
  /// A buffer that ops read; `element` is f32, i32, or what a weight is made of.
  KernelText &in(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::StringRef element = "f32");
  /// A buffer that ops write.
  KernelText &out(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  /// Adds an op; `$name` stands for the type of a buffer, `%name` for the buffer.
  KernelText &op(llvm::StringRef text);
  /// Makes it a program of few tokens (`ck.rows`).
  KernelText &rows();

  std::string text() const;
  bool writes(llvm::StringRef name) const { return written.count(name.str()) != 0; }

private:
  std::string buffers, ops, attributes;
  std::map<std::string, std::string> types;
  std::map<std::string, bool> written;
};

/// A panel activation [P][F][L] by token and feature.
class Panels {
public:
  Panels(float *data, int64_t features, int64_t lanes = hostLanes()) : data(data), features(features), lanes(lanes) {}
  float &at(int64_t token, int64_t feature) const {
    return data[(token / lanes * features + feature) * lanes + token % lanes];
  }

private:
  float *data;
  int64_t features, lanes;
};

/// A program on its own arena, linked when it first runs here. Every float starts as NaN, so a value read without being set, or not written at
/// all, shows in the result.
class KernelRun {
public:
  /// `quantize`: weights in blocks multiply 8-bit activations, unless strict.
  explicit KernelRun(const KernelText &text, bool strict = false, const TargetDescription &target = hostTarget(),
                     bool quantize = true);

  float *floats(llvm::StringRef name);
  int32_t *ints(llvm::StringRef name);
  /// All bytes of a buffer, as a weight in blocks has them.
  llvm::MutableArrayRef<uint8_t> bytes(llvm::StringRef name);
  Panels panels(llvm::StringRef name, int64_t features) { return Panels(floats(name), features); }
  /// Elements of 4 bytes in a buffer.
  size_t size(llvm::StringRef name) const;
  /// Seeded values of about normal distribution, in every element.
  void fill(llvm::StringRef name, uint64_t seed, float scale = 1.0f);
  /// Seeded values in `count` elements from `first` on.
  void fillPart(llvm::StringRef name, int64_t first, int64_t count, uint64_t seed);
  /// Seeded values for the tokens [0, tokens); other lanes stay as they are.
  void fillPanels(llvm::StringRef name, int64_t features, int64_t tokens, uint64_t seed, float scale = 1.0f);

  /// Seeded values in the first `rows` x `depth` of each group of a [groups][..][..] weight; its padding stays NaN.
  void fillWeight(llvm::StringRef name, std::array<int64_t, 3> padded, int64_t rows, int64_t depth, uint64_t seed);

  /// Runs the program; fails the test when it changes a buffer that it has no business to write.
  void run(int64_t tokens, int64_t firstRow = 0, unsigned threads = 1, int64_t position = 0);
  /// The arena, as the program will find it.
  llvm::ArrayRef<std::byte> memory() const { return {arena.data(), static_cast<size_t>(object.arenaBytes)}; }
  /// Takes the arena as the program has left it elsewhere; fails the test like run().
  void adopt(llvm::ArrayRef<std::byte> after);
  /// Makes all outputs NaN again.
  void poisonOutputs();
  const CompiledObject &compiled() const { return object; }

private:
  std::byte *place(llvm::StringRef name) const;
  /// Fails the test where a buffer that the program may not write differs from its place in `before`.
  void checkInputs(llvm::ArrayRef<std::byte> before) const;

  KernelText text;
  CompiledObject object;
  std::unique_ptr<Program> program;
  Arena arena;
};

/// A sum as plain double arithmetic gives it, and the magnitudes that went into it.
struct Exact {
  double value = 0, magnitude = 0;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
  }
  void addProduct(float a, float b) { add(static_cast<double>(a) * static_cast<double>(b)); }
  /// What `roundings` steps in fp32 can move, each by its share of the magnitudes (Higham, Accuracy and Stability of
  /// Numerical Algorithms, 3.1: a sum of K products takes K).
  double allowed(int64_t roundings) const { return static_cast<double>(roundings) * kRounding * magnitude + 1e-30; }
};

/// Keeps the element that is furthest beyond what was allowed for it.
class WorstElement {
public:
  void compare(float found, double expected, double allowed, int64_t row, int64_t column);
  bool fits() const { return share <= 1; }
  /// "worst: row 3, element 5: found 1.5, expected 1.25, distance 0.25 of the 0.01 allowed"
  std::string text() const;
  int64_t count() const { return compared; }

private:
  double share = 0, found = 0, expected = 0, allowed = 0;
  int64_t row = 0, column = 0, compared = 0;
};

/// |found - exact| in steps of fp32 at `exact`, both finite.
double ulps(double found, double exact);

} // namespace ckjit::test
#endif
