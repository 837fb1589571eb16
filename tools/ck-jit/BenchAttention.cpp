//===- BenchAttention.cpp - Attention over a full cache, alone ------------===//
#include "Bench.h"
#include <fmt/format.h>

using namespace llvm;
using namespace ckjit;
using namespace ckjit::tool;

/// As @decode has it: a token's attention over the cache of each layer, one after the other.
static std::string attentionText(const ModelConfig &c) {
  constexpr int64_t kKeys = 128, kState = 16; // as ck-split-attention makes the parts
  int64_t context = c.contextWindow, padded = c.alignedHead(), blocks = (context + kKeys - 1) / kKeys;
  std::string x = fmt::format("memref<1x{}xf32>", c.numHeads * c.headDim());
  std::string cache = fmt::format("memref<{}x{}x{}xf32>", c.numKVHeads, context, padded);
  std::string parts = fmt::format("memref<1x{}x{}x{}xf32>", c.numHeads, blocks, padded + kState);
  std::string heads = fmt::format("heads {} head_dim {} keys {}", c.numHeads, c.headDim(), kKeys);
  std::string text = fmt::format("func.func @prefill() attributes {{ck.rows}} {{\n"
                                 "  %q = ck.buffer extra \"q\" : {0}\n  %y = ck.buffer extra \"y\" : {0}\n"
                                 "  %p = ck.buffer extra \"parts\" : {1}\n",
                                 x, parts);
  for (int64_t layer = 0; layer < c.numLayers; ++layer)
    text += fmt::format("  %k{0} = ck.buffer extra \"k{0}\" : {1}\n  %v{0} = ck.buffer extra \"v{0}\" : {1}\n"
                        "  ck.attention_part ins(%q, %k{0}, %v{0} : {2}, {1}, {1}) outs(%p : {3}) {4}\n"
                        "  ck.attention_merge ins(%p : {3}) outs(%y : {2}) {4}\n",
                        layer, cache, x, parts, heads);
  return text + "  return\n}\n";
}

Expected<AttentionFigure> ckjit::tool::measureAttention(const ModelConfig &config, const BenchOptions &options,
                                                        unsigned threads) {
  auto program = BenchProgram::make(attentionText(config), options.compile, options.link);
  if (!program)
    return program.takeError();
  auto team = ThreadTeam::create(threads);
  if (!team)
    return team.takeError();
  for (const char *name : {"q", "k", "v"})
    program->fill(name);
  AttentionFigure figure;
  figure.keys = config.contextWindow;
  figure.cacheBytes = sizeof(float) * 2.0 * static_cast<double>(config.numLayers * config.numKVHeads *
                                                                config.contextWindow * config.alignedHead());
  figure.flops = 4.0 * static_cast<double>(config.numLayers * config.numHeads * config.contextWindow * config.headDim());
  std::vector<double> rates;
  uint64_t position = static_cast<uint64_t>(config.contextWindow) - 1;
  program->run(**team, 1, position); // touches its pages
  for (unsigned run = 0; run < options.runs; ++run)
    rates.push_back(1 / program->run(**team, 1, position));
  figure.perSecond = figureOf(rates);
  return figure;
}
