//===- ScalarOps.cpp - One plain loop nest per op -------------------------===//
#include "ScalarOps.h"
#include <algorithm>
#include <cmath>

namespace ckjit::reference {
namespace {

/// Rows of activations that lie `cols` apart.
struct Rows {
  const double *data;
  int64_t count;
  int64_t cols;
};

Rows rowsOf(const Matrix &x) { return {x.data.data(), x.rows, x.cols}; }

/// Four partial sums: one chain of additions would wait for each result.
double dot(const double *a, const double *b, int64_t n) {
  double sum[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int64_t lane = 0; lane < 4; ++lane)
      sum[lane] += a[i + lane] * b[i + lane];
  for (; i < n; ++i)
    sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// out[t][n] += x[t] . w[n] for n < `outputs`; rows of w are `stride` floats apart, rows of out `outStride` doubles.
void addProduct(Rows x, const float *w, int64_t stride, int64_t outputs, double *out, int64_t outStride) {
  std::vector<double> weights(static_cast<size_t>(x.cols));
  for (int64_t n = 0; n < outputs; ++n) {
    const float *row = w + n * stride;
    std::copy(row, row + x.cols, weights.begin());
    for (int64_t t = 0; t < x.count; ++t)
      out[t * outStride + n] += dot(x.data + t * x.cols, weights.data(), x.cols);
  }
}

/// Sets `rows` rows of out, each to bias[0..outputs).
void setBias(const float *bias, int64_t rows, int64_t outputs, double *out, int64_t outStride) {
  for (int64_t t = 0; t < rows; ++t)
    std::copy(bias, bias + outputs, out + t * outStride);
}

/// theta^(-2i/hd) in long double, rounded to fp32 (SPEC 4).
std::vector<float> ropeFrequencies(const ModelConfig &config) {
  const int64_t headDim = config.headDim();
  std::vector<float> frequencies(static_cast<size_t>(headDim / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const long double exponent = -2.0L * static_cast<long double>(i) / static_cast<long double>(headDim);
    frequencies[i] = static_cast<float>(std::pow(static_cast<long double>(config.ropeTheta), exponent));
  }
  return frequencies;
}

void rotateRow(double *row, int64_t position, const std::vector<float> &frequencies) {
  const size_t half = frequencies.size();
  for (size_t i = 0; i < half; ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    const double c = std::cos(static_cast<double>(angle));
    const double s = std::sin(static_cast<double>(angle));
    const double a = row[i], b = row[i + half];
    row[i] = a * c - b * s;
    row[i + half] = a * s + b * c;
  }
}

/// scores[0..n) := softmax(scores[0..n)).
void softmax(double *scores, int64_t n) {
  const double largest = *std::max_element(scores, scores + n);
  double total = 0;
  for (int64_t j = 0; j < n; ++j)
    total += scores[j] = std::exp(scores[j] - largest);
  for (int64_t j = 0; j < n; ++j)
    scores[j] /= total;
}

/// One query row over the keys and values of positions 0..last; scores is room for last + 1 numbers.
void attendRow(const double *q, Rows k, Rows v, int64_t last, double *scores, double *out) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(k.cols));
  for (int64_t j = 0; j <= last; ++j)
    scores[j] = scale * dot(q, k.data + j * k.cols, k.cols);
  softmax(scores, last + 1);
  for (int64_t j = 0; j <= last; ++j)
    for (int64_t d = 0; d < v.cols; ++d)
      out[d] += scores[j] * v.data[j * v.cols + d];
}

} // namespace

Matrix embed(const ModelConfig &config, llvm::ArrayRef<int32_t> tokens, const float *tokenEmb, const float *posEmb) {
  Matrix out(static_cast<int64_t>(tokens.size()), config.hiddenSize);
  const int64_t stride = config.alignedHidden();
  for (int64_t t = 0; t < out.rows; ++t)
    for (int64_t d = 0; d < out.cols; ++d) {
      out.row(t)[d] = tokenEmb[tokens[static_cast<size_t>(t)] * stride + d];
      if (posEmb)
        out.row(t)[d] += posEmb[t * stride + d];
    }
  return out;
}

Matrix reciprocalRms(const Matrix &x, float eps) {
  Matrix rstd(x.rows, 1);
  for (int64_t t = 0; t < x.rows; ++t) {
    const double meanSquare = dot(x.row(t), x.row(t), x.cols) / static_cast<double>(x.cols);
    *rstd.row(t) = 1.0 / std::sqrt(meanSquare + static_cast<double>(eps));
  }
  return rstd;
}

Matrix rmsNorm(const Matrix &x, const Matrix &rstd, const float *gamma) {
  Matrix out(x.rows, x.cols);
  for (int64_t t = 0; t < x.rows; ++t)
    for (int64_t d = 0; d < x.cols; ++d)
      out.row(t)[d] = x.row(t)[d] * *rstd.row(t) * gamma[d];
  return out;
}

Matrix projectHeads(const ModelConfig &config, const Matrix &x, int64_t heads, const float *w, const float *b) {
  const int64_t headDim = config.headDim(), alignedHead = config.alignedHead(), stride = config.alignedHidden();
  Matrix out(heads * x.rows, headDim);
  for (int64_t h = 0; h < heads; ++h) {
    double *slab = out.row(h * x.rows);
    setBias(b + h * alignedHead, x.rows, headDim, slab, headDim);
    addProduct(rowsOf(x), w + h * alignedHead * stride, stride, headDim, slab, headDim);
  }
  return out;
}

void applyRope(const ModelConfig &config, Matrix &x, int64_t tokens) {
  const std::vector<float> frequencies = ropeFrequencies(config);
  for (int64_t r = 0; r < x.rows; ++r)
    rotateRow(x.row(r), r % tokens, frequencies);
}

Matrix attention(const ModelConfig &config, const Matrix &q, const Matrix &k, const Matrix &v) {
  const int64_t heads = config.numHeads, tokens = q.rows / heads;
  Matrix out(q.rows, q.cols);
  std::vector<double> scores(static_cast<size_t>(tokens));
  for (int64_t h = 0; h < heads; ++h) {
    const int64_t group = h * config.numKVHeads / heads;
    const Rows keys{k.row(group * tokens), tokens, k.cols}, values{v.row(group * tokens), tokens, v.cols};
    for (int64_t t = 0; t < tokens; ++t)
      attendRow(q.row(h * tokens + t), keys, values, t, scores.data(), out.row(h * tokens + t));
  }
  return out;
}

Matrix projectAttention(const ModelConfig &config, const Matrix &a, const float *wo, const float *bo) {
  const int64_t hidden = config.hiddenSize, alignedHead = config.alignedHead(), tokens = a.rows / config.numHeads;
  Matrix out(tokens, hidden);
  setBias(bo, tokens, hidden, out.row(0), hidden);
  for (int64_t h = 0; h < config.numHeads; ++h)
    addProduct({a.row(h * tokens), tokens, a.cols}, wo + h * config.alignedHidden() * alignedHead, alignedHead, hidden,
               out.row(0), hidden);
  return out;
}

Matrix add(const Matrix &a, const Matrix &b) {
  Matrix out = a;
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] += b.data[i];
  return out;
}

Matrix expand(const ModelConfig &config, const Matrix &x, const float *w1, const float *b1) {
  const int64_t width = config.intermediateSize, aligned = config.alignedIntermediate();
  const int64_t stride = config.alignedHidden();
  Matrix out(x.rows, 2 * width);
  for (int64_t half = 0; half < 2; ++half) {
    double *slab = out.row(0) + half * width;
    setBias(b1 + half * aligned, x.rows, width, slab, out.cols);
    addProduct(rowsOf(x), w1 + half * aligned * stride, stride, width, slab, out.cols);
  }
  return out;
}

Matrix takeHalf(const Matrix &x, int64_t half) {
  Matrix out(x.rows, x.cols / 2);
  for (int64_t t = 0; t < x.rows; ++t) {
    const double *from = x.row(t) + half * out.cols;
    std::copy(from, from + out.cols, out.row(t));
  }
  return out;
}

Matrix swiglu(const Matrix &gate, const Matrix &up) {
  Matrix out(gate.rows, gate.cols);
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = gate.data[i] / (1.0 + std::exp(-gate.data[i])) * up.data[i];
  return out;
}

Matrix contract(const ModelConfig &config, const Matrix &x, const float *w2, const float *b2) {
  Matrix out(x.rows, config.hiddenSize);
  setBias(b2, out.rows, out.cols, out.row(0), out.cols);
  addProduct(rowsOf(x), w2, config.alignedIntermediate(), out.cols, out.row(0), out.cols);
  return out;
}

Matrix lmHead(const ModelConfig &config, const Matrix &x, const float *tokenEmb) {
  Matrix out(x.rows, config.vocabSize);
  addProduct(rowsOf(x), tokenEmb, config.alignedHidden(), out.cols, out.row(0), out.cols);
  return out;
}

double crossEntropy(llvm::ArrayRef<double> logits, int64_t target) {
  double top = *std::max_element(logits.begin(), logits.end()), sum = 0;
  for (double logit : logits)
    sum += logit == top ? 1 : std::exp(logit - top); // the difference of two infinities has no exponential
  return std::log(sum) + (top - logits[target]);
}

} // namespace ckjit::reference
