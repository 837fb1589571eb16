//===- BenchProgram.cpp - Programs that measure, and machine limits -------===//
#include "Bench.h"
#include "ckjit/Weights/BlockCodec.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <optional>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

Figure ckjit::tool::figureOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples.front(), samples.back()};
}

Expected<BenchProgram> BenchProgram::make(const std::string &text, const CompileOptions &options,
                                          const LinkOptions &link) {
  auto compiled = compileText(text, "benchmark", options);
  if (!compiled)
    return compiled.takeError();
  auto arena = Arena::reserve(compiled->arenaBytes);
  if (!arena)
    return arena.takeError();
  if (auto advised = arena->adviseHuge(0, arena->size()); !advised)
    return advised.takeError();
  auto program = Program::link(std::move(*compiled), link);
  if (!program)
    return program.takeError();
  return BenchProgram(std::move(*program), std::move(*arena));
}

void BenchProgram::fillBlocks(StringRef name, DType type) {
  // The same blocks again and again: speed depends on where weights are, not on what they are.
  std::vector<float> values(1 << 14);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 0.01f * (static_cast<float>(i * 7919 % 251) - 125.0f);
  const WeightFormat &format = formatOf(type);
  std::vector<uint8_t> blocks(values.size() / format.elements * format.bytes);
  quantize(type, values, blocks);
  for (const ProgramBuffer &buffer : program->compiled().buffers) {
    if (!StringRef(buffer.name).starts_with(name))
      continue;
    auto *bytes = reinterpret_cast<uint8_t *>(arena.data() + buffer.offset);
    for (size_t i = 0; i < buffer.bytes; i += blocks.size())
      std::copy_n(blocks.begin(), std::min<size_t>(blocks.size(), buffer.bytes - i), bytes + i);
  }
}

void BenchProgram::fill(StringRef name) {
  for (const ProgramBuffer &buffer : program->compiled().buffers) {
    if (!StringRef(buffer.name).starts_with(name))
      continue;
    float *data = reinterpret_cast<float *>(arena.data() + buffer.offset);
    for (uint64_t i = 0; i < buffer.bytes / sizeof(float); ++i)
      data[i] = 0.01f * static_cast<float>(i % 13 + 1);
  }
}

double BenchProgram::run(ThreadTeam &team, uint64_t tokens, uint64_t position) {
  auto start = std::chrono::steady_clock::now();
  team.run([&](unsigned tid, unsigned threads) {
    program->prefill()(&team, tid, threads, tokens, 0, position, arena.data(), arena.data());
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

namespace {
/// Independent FMAs: more than the eight to ten that two pipes of latency four or five need, fewer than would spill.
int chainsOf(const TargetDescription &target) { return target.vectorRegisters >= 32 ? 16 : 12; }
constexpr uint64_t kSteps = 4000000;  ///< some ten milliseconds
/// Which is faster differs from machine to machine: one run of memory a thread, or rows of four distant chunks.
constexpr int kStreamCounts[] = {1, 4};
constexpr int64_t kReadBytes = int64_t(512) << 20;
constexpr int64_t kAheadBytes = 2048; ///< prefetch distance

/// Instructions of a chain: what comes before the loop, and %n<i> made of %a<i>.
struct Chain {
  std::string element, add, before;
  std::function<std::string(int)> step;
};

Chain fmaChain(int lanes) {
  std::string vector = fmt::format("vector<{}xf32>", lanes);
  return {"f32", "arith.addf", "", [=](int i) {
            return fmt::format("      %n{0} = math.fma %x, %y, %a{0} : {1}\n", i, vector);
          }};
}

/// Four products of bytes a lane, summed: by one instruction, or by three as AVX2, SSSE3 and AVX-512 without VNNI do.
std::optional<Chain> byteChain(const TargetDescription &target) {
  int bits = static_cast<int>(target.vectorBits), lanes = bits / 32;
  std::string words = fmt::format("vector<{}xi32>", lanes), pairs = fmt::format("vector<{}xi16>", 2 * lanes),
              bytes = fmt::format("vector<{}xi8>", 4 * lanes);
  std::string before = fmt::format("    %bx = vector.bitcast %x : {0} to {1}\n    %by = vector.bitcast %y : {0} to {1}\n"
                                   "    %ones = arith.constant dense<1> : {2}\n",
                                   words, bytes, pairs);
  if (target.has("avx512vnni") || target.has("avxvnni"))
    return Chain{"i32", "arith.addi", before, [=](int i) {
                   return fmt::format("      %n{0} = llvm.call_intrinsic \"llvm.x86.avx512.vpdpbusd.{1}\"(%a{0}, %bx, %by) : "
                                      "({2}, {3}, {3}) -> {2}\n",
                                      i, bits, words, bytes);
                 }};
  bool wide = bits == 512, avx2 = bits == 256 && target.has("avx2");
  if (!wide && !avx2 && !(bits == 128 && target.has("ssse3")))
    return std::nullopt;
  std::string products = wide ? "avx512.pmaddubs.w.512" : avx2 ? "avx2.pmadd.ub.sw" : "ssse3.pmadd.ub.sw.128";
  std::string sums = wide ? "avx512.pmaddw.d.512" : avx2 ? "avx2.pmadd.wd" : "sse2.pmadd.wd";
  // The first factor hangs on the loop, or the products would be made before it.
  return Chain{"i32", "arith.addi", before, [=](int i) {
                 return fmt::format("      %b{0} = vector.bitcast %a{0} : {2} to {4}\n"
                                    "      %p{0} = llvm.call_intrinsic \"llvm.x86.{5}\"(%b{0}, %by) : ({4}, {4}) -> {3}\n"
                                    "      %w{0} = llvm.call_intrinsic \"llvm.x86.{6}\"(%p{0}, %ones) : ({3}, {3}) -> {2}\n"
                                    "      %n{0} = arith.addi %a{0}, %w{0} : {2}\n",
                                    i, 0, words, pairs, bytes, products, sums);
               }};
}

/// T steps of `chains` chains on registers. Each thread has a row of the output, and one is behind the last thread's:
/// ThreadTeam::kMaxThreads + 1.
std::string peakText(int lanes, int chains, const Chain &chain) {
  std::string vector = fmt::format("vector<{}x{}>", lanes, chain.element), names, types, init, body, next, sum;
  for (int i = 0; i < chains; ++i) {
    names += fmt::format("{}%a{} = %start", i ? ", " : "", i);
    types += (i ? ", " : "") + vector;
    body += chain.step(i);
    next += fmt::format("{}%n{}", i ? ", " : "", i);
  }
  sum = fmt::format("    %s0 = {} %r#0, %r#1 : {}\n", chain.add, vector);
  for (int i = 2; i < chains; ++i)
    sum += fmt::format("    %s{} = {} %s{}, %r#{} : {}\n", i - 1, chain.add, i - 2, i, vector);
  return fmt::format(R"(module {{
  func.func private @peak(%tid: index, %threads: index, %T: index, %first: index, %position: index, %out: memref<1025x{0}x{9}>) attributes {{ck.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = vector.load %out[%tid, %c0] : memref<1025x{0}x{9}>, {1}
    %y = vector.load %out[%threads, %c0] : memref<1025x{0}x{9}>, {1}
    %start = arith.constant dense<{11}> : {1}
{10}    %r:{2} = scf.for %i = %c0 to %T step %c1 iter_args({3}) -> ({4}) {{
{5}      scf.yield {6} : {4}
    }}
{7}    vector.store %s{8}, %out[%tid, %c0] : memref<1025x{0}x{9}>, {1}
    return
  }}
  func.func @prefill() {{
    %out = ck.buffer extra "out" : memref<1025x{0}x{9}>
    ck.launch @peak(%out) : memref<1025x{0}x{9}>
    return
  }}
}})",
                     lanes, vector, chains, names, types, body, next, sum, chains - 2, chain.element, chain.before,
                     chain.element == "f32" ? "0.0" : "0");
}

/// Every thread sums `streams` chunks of its share in lock-step, a cache line of each a step.
std::string readText(int lanes, int streams) {
  int64_t lines = kReadBytes / 64 / streams, perLine = 16 / lanes;
  std::string vector = fmt::format("vector<{}xf32>", lanes), memref = fmt::format("memref<{}x{}x16xf32>", streams, lines);
  std::string names, types, body, next, sum;
  for (int s = 0; s < streams; ++s) {
    names += fmt::format("{}%a{} = %zero", s ? ", " : "", s);
    types += (s ? ", " : "") + vector;
    body += fmt::format("      memref.prefetch %data[%s{0}, %ahead, %c0], read, locality<3>, data : {1}\n", s, memref);
    std::string before = fmt::format("%a{}", s);
    for (int64_t part = 0; part < perLine; ++part) {
      body += fmt::format("      %v{0}_{1} = vector.load %data[%s{0}, %i, %p{1}] : {2}, {3}\n", s, part, memref, vector);
      body += fmt::format("      %n{0}_{1} = arith.addf {2}, %v{0}_{1} : {3}\n", s, part, before, vector);
      before = fmt::format("%n{}_{}", s, part);
    }
    next += (s ? ", " : "") + before;
  }
  std::string constants;
  for (int s = 0; s < streams; ++s)
    constants += fmt::format("    %s{0} = arith.constant {0} : index\n", s);
  for (int64_t part = 0; part < perLine; ++part)
    constants += fmt::format("    %p{} = arith.constant {} : index\n", part, part * lanes);
  std::string total = fmt::format("    %t0 = arith.addf %r#0, %zero : {}\n", vector);
  for (int s = 1; s < streams; ++s)
    total += fmt::format("    %t{} = arith.addf %t{}, %r#{} : {}\n", s, s - 1, s, vector);
  return fmt::format(R"(module {{
  func.func private @read(%tid: index, %threads: index, %T: index, %first: index, %position: index, %data: {0}, %out: memref<1025x{1}xf32>) attributes {{ck.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
{2}    %lines = arith.constant {3} : index
    %distance = arith.constant {4} : index
    %last = arith.constant {5} : index
    %zero = arith.constant dense<0.0> : {6}
    %scaled = arith.muli %lines, %tid : index
    %lo = arith.divui %scaled, %threads : index
    %end = arith.addi %scaled, %lines : index
    %hi = arith.divui %end, %threads : index
    %r:{7} = scf.for %i = %lo to %hi step %c1 iter_args({8}) -> ({9}) {{
      %far = arith.addi %i, %distance : index
      %ahead = arith.minui %far, %last : index
{10}      scf.yield {11} : {9}
    }}
{12}    vector.store %t{13}, %out[%tid, %c0] : memref<1025x{1}xf32>, {6}
    return
  }}
  func.func @prefill() {{
    %data = ck.buffer extra "data" : {0}
    %out = ck.buffer extra "out" : memref<1025x{1}xf32>
    ck.launch @read(%data, %out) : {0}, memref<1025x{1}xf32>
    return
  }}
}})",
                     memref, lanes, constants, lines, kAheadBytes / 64, lines - 1, vector, streams, names, types, body,
                     next, total, streams - 1);
}
} // namespace

Expected<MachineLimits> ckjit::tool::measureLimits(const CompileOptions &options, unsigned threads, unsigned runs) {
  int lanes = static_cast<int>(options.target.vectorBits / 32), chains = chainsOf(options.target);
  auto team = ThreadTeam::create(threads);
  if (!team)
    return team.takeError();
  MachineLimits limits;
  // Billions of operations a second of a chain that does `perLane` of them a step and lane.
  auto measure = [&](const Chain &chain, double perLane) -> Expected<Figure> {
    auto peak = BenchProgram::make(peakText(lanes, chains, chain), options);
    if (!peak)
      return peak.takeError();
    double operations = perLane * chains * lanes * static_cast<double>(kSteps) * threads;
    std::vector<double> rates;
    peak->run(**team, kSteps);
    for (unsigned run = 0; run < runs; ++run)
      rates.push_back(operations / peak->run(**team, kSteps) * 1e-9);
    return figureOf(rates);
  };
  auto gflops = measure(fmaChain(lanes), 2);
  if (!gflops)
    return gflops.takeError();
  limits.gflops = *gflops;
  if (std::optional<Chain> chain = byteChain(options.target)) {
    auto gops = measure(*chain, 8);
    if (!gops)
      return gops.takeError();
    limits.gops = *gops;
  }
  for (int streams : kStreamCounts) {
    auto read = BenchProgram::make(readText(lanes, streams), options);
    if (!read)
      return read.takeError();
    read->fill("data");
    std::vector<double> gigabytes;
    for (unsigned run = 0; run < runs; ++run)
      gigabytes.push_back(static_cast<double>(kReadBytes) / read->run(**team, 1) * 1e-9);
    Figure figure = figureOf(gigabytes);
    if (figure.median > limits.gigabytes.median)
      limits.gigabytes = figure, limits.streams = streams;
  }
  return limits;
}
