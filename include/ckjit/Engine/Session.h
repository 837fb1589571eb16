//===- Session.h - One conversation with a model ----------------*- C++ -*-===//
#ifndef CKJIT_ENGINE_SESSION_H
#define CKJIT_ENGINE_SESSION_H

#include "ckjit/Runtime/Arena.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace ckjit {

class Model;

/// What tokens leave behind: keys and values in the seed's layout ([kv head][context][aligned head] of each layer),
/// and the logits computed last. Sessions of one model share its weights and nothing else. One thread at a time may
/// use a session; several may use several.
class Session {
public:
  /// An empty session for up to `capacity` tokens (0: the context). Error for a capacity outside 1 to the context,
  /// or if the system has no address space left. `model` must outlive it.
  static llvm::Expected<std::unique_ptr<Session>> create(Model &model, int64_t capacity = 0);

  /// Runs `tokens` (T >= 1 ids, each in [0, V)) behind those the cache holds and computes the logits of rows
  /// firstRow..T-1. `targets` (empty, or one a token; kIgnoredTarget passes) fills losses(). Errors change nothing:
  /// no token, an id out of range (its position and value), a cache too full for them, a first row outside.
  /// `goOn`, if there is one, is asked before each piece of the tokens in front of firstRow (without targets) and before
  /// the rest; its error changes nothing either. In pieces or not, the bits are the same.
  llvm::Error append(llvm::ArrayRef<int32_t> tokens, int64_t firstRow, llvm::ArrayRef<int32_t> targets = {},
                     llvm::function_ref<llvm::Error(int64_t done, int64_t total)> goOn = nullptr);
  /// The same with the logits of the last row only.
  llvm::Error append(llvm::ArrayRef<int32_t> tokens) {
    return append(tokens, static_cast<int64_t>(tokens.size()) - 1);
  }

  /// Forgets all but the first `count` tokens. Error if there are fewer.
  llvm::Error truncate(int64_t count);
  void reset() { tokensCached = 0; }
  /// A session of its own with the same tokens and logits.
  llvm::Expected<std::unique_ptr<Session>> copy() const;

  /// Tokens whose keys and values the cache holds.
  int64_t cached() const { return tokensCached; }
  int64_t capacity() const { return limit; }
  /// Logits [V] of row t of the last append; empty if it computed none of that row.
  llvm::ArrayRef<float> logits(int64_t row) const;
  /// Which rows have logits, for messages.
  std::string describeRows() const;
  /// Those of the last row; empty before the first append.
  llvm::ArrayRef<float> lastLogits() const { return logits(rowsRun - 1); }
  /// Cross entropies of the last append's rows, from the first of its last piece on; 0 where ignored. Rows before its
  /// first row keep older values.
  llvm::ArrayRef<float> losses() const;

private:
  friend class Model;
  Session(Model &model, std::byte *state, int64_t capacity) : model(model), state(state), limit(capacity) {}
  /// Rows of a piece: whole panels of any target's lanes, and enough of them to read the weights for.
  static constexpr int64_t kPieceRows = 128;
  llvm::Error check(llvm::ArrayRef<int32_t> tokens, int64_t firstRow, llvm::ArrayRef<int32_t> targets) const;
  void fillRopeTables(int64_t rows);
  float *buffer(llvm::StringRef name, int layer = -1) const;
  template <typename T> T *extra(llvm::StringRef name) const;

  Model &model;
  std::optional<Arena> own; ///< none in a model's first session: its state lies beside the weights
  std::byte *state;
  int64_t limit;
  int64_t tokensCached = 0;
  int64_t ropeRows = 0; ///< rows of the RoPE tables filled so far
  // Of the last append:
  int64_t rowsRun = 0;     ///< T
  int64_t firstLogits = 0; ///< its first row
  int64_t rowsBefore = 0;  ///< in front of its last piece: row t stands at t - rowsBefore of the buffers
};

} // namespace ckjit
#endif
