//===- Sha256Test.cpp - Against FIPS 180-4's examples and LLVM's own ------===//
#include "Sha256.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <catch2/catch.hpp>

using namespace ckjit::weights;

namespace {
std::string hexOf(llvm::StringRef text) {
  Sha256 hash;
  hash.update(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(hash.finish(), true);
}
} // namespace

TEST_CASE("SHA-256 of the standard's examples") {
  CHECK(hexOf("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hexOf("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hexOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hexOf(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 of every length, in pieces, is LLVM's") {
  std::vector<uint8_t> data;
  for (size_t length = 0; length < 300; ++length) {
    for (size_t piece : {size_t(1), size_t(7), size_t(63), size_t(64), size_t(65), size_t(300)}) {
      Sha256 hash;
      for (size_t at = 0; at < length; at += piece)
        hash.update(llvm::ArrayRef(data).slice(at, std::min(piece, length - at)));
      if (hash.finish() != llvm::SHA256::hash(data))
        FAIL("length " << length << " in pieces of " << piece);
    }
    data.push_back(static_cast<uint8_t>(37 * length + 11));
  }
}
