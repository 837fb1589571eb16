//===- KernelRun.cpp - One ck program over named arrays -------------------===//
#include "KernelRun.h"
#include "Support/SplitMix.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

using namespace llvm;

namespace ckjit::test {

const TargetDescription &hostTarget() {
  static const TargetDescription target = must(describeTarget("native"));
  return target;
}

int64_t hostLanes() { return hostTarget().vectorBits / 32; }

int64_t panelsFor(int64_t tokens) { return (tokens + hostLanes() - 1) / hostLanes(); }

KernelText &KernelText::in(StringRef name, ArrayRef<int64_t> shape, StringRef element) {
  std::string type = "memref<";
  for (int64_t extent : shape)
    type += std::to_string(extent) + "x";
  type += (element + ">").str();
  buffers += formatv("  %{0} = ck.buffer extra \"{0}\" : {1}\n", name, type);
  types[name.str()] = type;
  return *this;
}

KernelText &KernelText::out(StringRef name, ArrayRef<int64_t> shape) {
  written[name.str()] = true;
  return in(name, shape);
}

KernelText &KernelText::op(StringRef text) {
  ops += "  ";
  while (!text.empty()) {
    auto [before, after] = text.split('$');
    StringRef name = after.take_while([](char c) { return isAlnum(c) || c == '_'; });
    ops += before;
    if (!name.empty())
      ops += types.at(name.str());
    text = after.drop_front(name.size());
  }
  ops += "\n";
  return *this;
}

KernelText &KernelText::rows() {
  attributes = "attributes {ck.rows} ";
  return *this;
}

std::string KernelText::text() const {
  return "module {\nfunc.func @prefill() " + attributes + "{\n" + buffers + ops + "  return\n}\n}\n";
}

KernelRun::KernelRun(const KernelText &text, bool strict, const TargetDescription &target, bool quantize)
    : text(text), object([&] {
        CompileOptions options;
        options.target = target;
        options.pipeline.strict = strict;
        options.pipeline.quantize = quantize;
        return must(compileText(text.text(), "kernel", options));
      }()),
      arena(must(Arena::reserve(object.arenaBytes))) {
  for (const ProgramBuffer &buffer : compiled().buffers)
    std::fill_n(floats(buffer.name), buffer.bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
}

std::byte *KernelRun::place(StringRef name) const {
  const ProgramBuffer *buffer = object.find(name);
  if (!buffer)
    throw std::runtime_error("the program has no buffer " + name.str());
  return arena.data() + buffer->offset;
}

float *KernelRun::floats(StringRef name) { return reinterpret_cast<float *>(place(name)); }
int32_t *KernelRun::ints(StringRef name) { return reinterpret_cast<int32_t *>(place(name)); }
MutableArrayRef<uint8_t> KernelRun::bytes(StringRef name) {
  return {reinterpret_cast<uint8_t *>(place(name)), static_cast<size_t>(object.find(name)->bytes)};
}
size_t KernelRun::size(StringRef name) const { return object.find(name)->bytes / sizeof(float); }

void KernelRun::fill(StringRef name, uint64_t seed, float scale) {
  SplitMix rng(seed);
  float *data = floats(name);
  for (size_t i = 0; i < size(name); ++i)
    data[i] = rng.normal() * scale;
}

void KernelRun::fillPart(StringRef name, int64_t first, int64_t count, uint64_t seed) {
  SplitMix rng(seed);
  float *data = floats(name) + first;
  for (int64_t i = 0; i < count; ++i)
    data[i] = rng.normal();
}

void KernelRun::fillPanels(StringRef name, int64_t features, int64_t tokens, uint64_t seed, float scale) {
  SplitMix rng(seed);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t f = 0; f < features; ++f)
      panels(name, features).at(t, f) = rng.normal() * scale;
}

void KernelRun::fillWeight(StringRef name, std::array<int64_t, 3> padded, int64_t rows, int64_t depth, uint64_t seed) {
  SplitMix rng(seed);
  float *data = floats(name);
  for (int64_t g = 0; g < padded[0]; ++g)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < depth; ++k)
        data[(g * padded[1] + r) * padded[2] + k] = rng.normal();
}

void KernelRun::run(int64_t tokens, int64_t firstRow, unsigned threads, int64_t position) {
  if (!program)
    program = must(Program::link(object));
  const std::vector<std::byte> before(memory().begin(), memory().end());
  std::unique_ptr<ThreadTeam> team = must(ThreadTeam::create(threads));
  team->run([&](unsigned tid, unsigned count) {
    program->prefill()(team.get(), tid, count, static_cast<uint64_t>(tokens), static_cast<uint64_t>(firstRow),
                       static_cast<uint64_t>(position), arena.data(), arena.data());
  });
  checkInputs(before);
}

void KernelRun::adopt(ArrayRef<std::byte> after) {
  const std::vector<std::byte> before(memory().begin(), memory().end());
  REQUIRE(after.size() == before.size());
  std::copy(after.begin(), after.end(), arena.data());
  checkInputs(before);
}

void KernelRun::checkInputs(ArrayRef<std::byte> before) const {
  for (const ProgramBuffer &buffer : compiled().buffers) {
    if (text.writes(buffer.name))
      continue;
    INFO("input " << buffer.name << " was changed");
    CHECK(std::memcmp(before.data() + buffer.offset, place(buffer.name), buffer.bytes) == 0);
  }
}

void KernelRun::poisonOutputs() {
  for (const ProgramBuffer &buffer : compiled().buffers)
    if (text.writes(buffer.name))
      std::fill_n(floats(buffer.name), size(buffer.name), std::numeric_limits<float>::quiet_NaN());
}

void WorstElement::compare(float value, double exact, double limit, int64_t atRow, int64_t atColumn) {
  ++compared;
  const double distance = std::abs(static_cast<double>(value) - exact);
  // A NaN is infinitely far away; written so that it can't slip through a comparison.
  const double now = distance <= limit ? (limit > 0 ? distance / limit : 0) : std::max(distance / limit, 1.0001);
  if (now <= share)
    return;
  share = std::isnan(now) ? std::numeric_limits<double>::infinity() : now;
  found = static_cast<double>(value);
  expected = exact;
  allowed = limit;
  row = atRow;
  column = atColumn;
}

std::string WorstElement::text() const {
  return fmt::format("worst: row {}, element {}: found {:.9g}, expected {:.9g}, distance {:.3g} of the {:.3g} allowed",
                     row, column, found, expected, std::abs(found - expected), allowed);
}

double ulps(double found, double exact) {
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(found - exact) / std::ldexp(1.0, exponent - 23);
}

} // namespace ckjit::test
