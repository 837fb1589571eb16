//===- PullModel.cpp - The decoder a second time, pulled backwards --------===//
#include "PullModel.h"
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

namespace ckjit::test {
namespace {

PullModel::Row slice(const PullModel::Row &row, size_t first, size_t count) {
  const auto begin = row.begin() + static_cast<ptrdiff_t>(first);
  return {begin, begin + static_cast<ptrdiff_t>(count)};
}

} // namespace

PullModel::PullModel(const CKIRGraph &graph, const TestModel &model, llvm::ArrayRef<int32_t> tokens)
    : graph(graph), model(model), config(graph.config), tokens(tokens) {}

PullModel::Row PullModel::apply(const Dense &w, const Row &x) {
  Row y = w.bias;
  for (size_t n = 0; n < y.size(); ++n)
    y[n] += std::inner_product(x.begin(), x.end(), w.rows[n].begin(), 0.0L);
  return y;
}

/// Dense [out][in] matrix and bias of q, k, v, o, 1 (gate rows, then up rows) or 2.
PullModel::Dense PullModel::unpack(const std::string &letter, int layer) const {
  const int64_t D = config.hiddenSize, hd = config.headDim(), I = config.intermediateSize;
  const int64_t aD = config.alignedHidden(), ad = config.alignedHead(), aI = config.alignedIntermediate();
  llvm::ArrayRef<float> w = model.tensor("w" + letter, layer), b = model.tensor("b" + letter, layer);
  Dense dense;
  const auto row = [&](int64_t bias, int64_t columns, auto weightAt) {
    dense.bias.push_back(b[static_cast<size_t>(bias)]);
    Row &values = dense.rows.emplace_back();
    for (int64_t c = 0; c < columns; ++c)
      values.push_back(w[static_cast<size_t>(weightAt(c))]);
  };
  if (letter == "o") {
    for (int64_t n = 0; n < D; ++n)
      row(n, D, [&](int64_t c) { return ((c / hd) * aD + n) * ad + c % hd; });
  } else if (letter == "1") {
    for (int64_t n = 0; n < 2 * I; ++n)
      row(n % I + n / I * aI, D, [&](int64_t c) { return (n % I + n / I * aI) * aD + c; });
  } else if (letter == "2") {
    for (int64_t n = 0; n < D; ++n)
      row(n, I, [&](int64_t c) { return n * aI + c; });
  } else {
    const int64_t heads = letter == "q" ? config.numHeads : config.numKVHeads;
    for (int64_t n = 0; n < heads * hd; ++n)
      row(n / hd * ad + n % hd, D, [&](int64_t c) { return (n / hd * ad + n % hd) * aD + c; });
  }
  return dense;
}

const PullModel::Dense &PullModel::dense(const std::string &letter, int layer) {
  auto [entry, fresh] = matrices.try_emplace({letter, layer});
  if (fresh)
    entry->second = unpack(letter, layer);
  return entry->second;
}

PullModel::Row PullModel::norm(const Row &x, llvm::StringRef gamma, int layer) const {
  long double squares = 0;
  for (long double value : x)
    squares += value * value;
  const long double root = std::sqrt(squares / static_cast<long double>(x.size()) + config.rmsNormEps);
  Row y(x.size());
  for (size_t d = 0; d < x.size(); ++d)
    y[d] = model.tensor(gamma, layer)[d] * (x[d] / root);
  return y;
}

/// Turns the head that starts at `first` by the angles of position t.
void PullModel::rotate(Row &row, size_t first, size_t t) const {
  const size_t half = static_cast<size_t>(config.headDim()) / 2;
  for (size_t i = 0; i < half; ++i) {
    const long double share = static_cast<long double>(i) / static_cast<long double>(half);
    const float frequency = static_cast<float>(std::exp(-share * std::log(static_cast<long double>(config.ropeTheta))));
    const float angle = static_cast<float>(t) * frequency;
    const std::complex<long double> lanes(row[first + i], row[first + half + i]);
    const std::complex<long double> turned = lanes * std::polar(1.0L, static_cast<long double>(angle));
    row[first + i] = turned.real();
    row[first + half + i] = turned.imag();
  }
}

/// q, k and v side by side: [H * hd][K * hd][K * hd].
PullModel::Row PullModel::evaluateQkv(const CKIRNode &node, size_t t) {
  const Row x = input(node, 0, t);
  Row all;
  for (const char *letter : {"q", "k", "v"}) {
    const Row part = apply(dense(letter, node.id.layer), x);
    all.insert(all.end(), part.begin(), part.end());
  }
  const size_t rotated = static_cast<size_t>((config.numHeads + config.numKVHeads) * config.headDim());
  if (config.ropeTheta > 0)
    for (size_t first = 0; first < rotated; first += static_cast<size_t>(config.headDim()))
      rotate(all, first, t);
  return all;
}

PullModel::Row PullModel::evaluateAttention(const CKIRNode &node, size_t t) {
  const size_t hd = static_cast<size_t>(config.headDim()), H = static_cast<size_t>(config.numHeads);
  const size_t K = static_cast<size_t>(config.numKVHeads), keys = H * hd, values = keys + K * hd;
  Row heads(H * hd, 0.0L);
  for (size_t h = 0; h < H; ++h) {
    const size_t offset = h / (H / K) * hd;
    const Row q = slice(input(node, 0, t), h * hd, hd);
    Row weights(tokens.size(), -std::numeric_limits<long double>::infinity());
    for (size_t j = 0; j <= t; ++j) {
      const Row k = slice(input(node, 0, j), keys + offset, hd);
      weights[j] = std::inner_product(q.begin(), q.end(), k.begin(), 0.0L) / std::sqrt(static_cast<long double>(hd));
    }
    for (long double &weight : weights)
      weight = std::exp(weight);
    const long double total = std::accumulate(weights.begin(), weights.end(), 0.0L);
    for (size_t d = 0; d < hd; ++d)
      for (size_t j = 0; j <= t; ++j)
        heads[h * hd + d] += weights[j] / total * output(node.inputs[0].producer, j)[values + offset + d];
  }
  return apply(dense("o", node.id.layer), heads);
}

PullModel::Row PullModel::evaluate(const CKIRNode &node, size_t t) {
  switch (node.op) {
  case NodeOp::RMSNorm: return norm(input(node, 0, t), node.id.node == 0 ? "ln1_gamma" : "ln2_gamma", node.id.layer);
  case NodeOp::LinearQKV: return evaluateQkv(node, t);
  case NodeOp::Attention: return evaluateAttention(node, t);
  case NodeOp::Linear: return apply(dense(node.id.node == 5 ? "1" : "2", node.id.layer), input(node, 0, t));
  case NodeOp::Split: return input(node, 0, t);
  default: break;
  }
  Row a = input(node, 0, t);
  const Row b = input(node, 1, t);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = node.op == NodeOp::Add ? a[i] + b[i] : a[i] * b[i] * (0.5L + 0.5L * std::tanh(a[i] / 2));
  return a;
}

const PullModel::Row &PullModel::output(NodeId id, size_t t) {
  const auto key = std::make_tuple(int(id.layer), int(id.node), t);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const CKIRNode &n) { return n.id == id; });
  Row value = evaluate(*node, t);
  return known.emplace(key, std::move(value)).first->second;
}

PullModel::Row PullModel::input(const CKIRNode &node, size_t slot, size_t t) {
  const InputRef &ref = node.inputs[slot];
  if (ref.isLayerInput())
    return layerResult(int(node.id.layer) - 1, t);
  const Row &whole = output(ref.producer, t);
  const bool fromSplit = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const CKIRNode &n) {
    return n.id == ref.producer && n.op == NodeOp::Split;
  });
  return fromSplit ? slice(whole, ref.outIndex * whole.size() / 2, whole.size() / 2) : whole;
}

/// Result of a layer; the embedding for layer -1.
PullModel::Row PullModel::layerResult(int layer, size_t t) {
  if (layer >= 0) {
    const auto last = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(),
                                   [&](const CKIRNode &n) { return n.id.layer == layer; });
    return output(last->id, t);
  }
  const size_t stride = static_cast<size_t>(config.alignedHidden());
  Row x(static_cast<size_t>(config.hiddenSize));
  for (size_t d = 0; d < x.size(); ++d) {
    x[d] = model.tensor("token_emb", -1)[static_cast<size_t>(tokens[t]) * stride + d];
    if (!(config.ropeTheta > 0))
      x[d] += model.tensor("pos_emb", -1)[t * stride + d];
  }
  return x;
}

PullModel::Row PullModel::logits(size_t t) {
  const Row h = norm(layerResult(int(graph.nodes.back().id.layer), t), "final_ln_weight", -1);
  const llvm::ArrayRef<float> emb = model.tensor("token_emb", -1);
  Row out(static_cast<size_t>(config.vocabSize), 0.0L);
  for (size_t v = 0; v < out.size(); ++v)
    for (size_t d = 0; d < h.size(); ++d)
      out[v] += h[d] * emb[v * static_cast<size_t>(config.alignedHidden()) + d];
  return out;
}

} // namespace ckjit::test
