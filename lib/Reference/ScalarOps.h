//===- ScalarOps.h - One plain loop nest per op -----------------*- C++ -*-===//
//
// Internal to lib/Reference. T tokens, D hidden, I intermediate, H heads, K KV
// heads, hd head dim; a leading `a` means padded (aD, aI, ad = padded hd). All
// activations are logical, only weights have padded strides.
//
//===----------------------------------------------------------------------===//
#ifndef CKJIT_LIB_REFERENCE_SCALAROPS_H
#define CKJIT_LIB_REFERENCE_SCALAROPS_H

#include "ckjit/Graph/ModelConfig.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace ckjit::reference {

/// Row-major matrix of doubles.
struct Matrix {
  Matrix(int64_t rows, int64_t cols) : rows(rows), cols(cols), data(static_cast<size_t>(rows * cols)) {}
  double *row(int64_t r) { return data.data() + r * cols; }
  const double *row(int64_t r) const { return data.data() + r * cols; }

  int64_t rows;
  int64_t cols;
  std::vector<double> data;
};

/// x[t] = token_emb[id] (+ pos_emb[t] when `posEmb` isn't null); [T][D].
Matrix embed(const ModelConfig &config, llvm::ArrayRef<int32_t> tokens, const float *tokenEmb, const float *posEmb);

/// 1 / sqrt(mean(x^2) + eps) of each row; [T][1].
Matrix reciprocalRms(const Matrix &x, float eps);

/// x * rstd * gamma, with each row's value of `rstd` [T][1].
Matrix rmsNorm(const Matrix &x, const Matrix &rstd, const float *gamma);

/// Per-head projection of [T][D] with w [heads][ad][aD] and b [heads][ad]; [heads * T][hd], head-major.
Matrix projectHeads(const ModelConfig &config, const Matrix &x, int64_t heads, const float *w, const float *b);

/// Rotates every row of x [heads * T][hd] in place by its position (SPEC 4, half-split).
void applyRope(const ModelConfig &config, Matrix &x, int64_t tokens);

/// Causal softmax attention; q [H * T][hd], k and v [K * T][hd], result [H * T][hd].
Matrix attention(const ModelConfig &config, const Matrix &q, const Matrix &k, const Matrix &v);

/// bo + sum over heads of wo [H][aD][ad] times a [H * T][hd]; [T][D].
Matrix projectAttention(const ModelConfig &config, const Matrix &a, const float *wo, const float *bo);

/// a + b, element by element.
Matrix add(const Matrix &a, const Matrix &b);

/// Gate and up rows of w1 [2 * aI][aD] and b1 [2 * aI]; [T][2 * I], gate first.
Matrix expand(const ModelConfig &config, const Matrix &x, const float *w1, const float *b1);

/// The left (half 0) or right (half 1) columns of x.
Matrix takeHalf(const Matrix &x, int64_t half);

/// silu(gate) * up, element by element.
Matrix swiglu(const Matrix &gate, const Matrix &up);

/// w2 [aD][aI] and b2 [aD] on [T][I]; [T][D].
Matrix contract(const ModelConfig &config, const Matrix &x, const float *w2, const float *b2);

/// x [T][D] times token_emb [V][aD] transposed; [T][V].
Matrix lmHead(const ModelConfig &config, const Matrix &x, const float *tokenEmb);

/// log of the sum of exp(logits), minus the target's logit.
double crossEntropy(llvm::ArrayRef<double> logits, int64_t target);

} // namespace ckjit::reference
#endif
