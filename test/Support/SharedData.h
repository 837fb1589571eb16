//===- SharedData.h - Golden vectors and models beside the checkout -------===//
#ifndef CKJIT_TEST_SUPPORT_SHAREDDATA_H
#define CKJIT_TEST_SUPPORT_SHAREDDATA_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>
#include <string>

namespace ckjit::test {

/// Path below the shared folder (CKJIT_SHARED_DIR); empty, with a message, if it isn't there.
inline std::string sharedPath(llvm::StringRef relative) {
  std::string path = std::string(CKJIT_SHARED_DIR) + "/" + relative.str();
  if (llvm::sys::fs::exists(path))
    return path;
  WARN("skipped: shared data " << relative.str() << " not found");
  return "";
}

} // namespace ckjit::test
#endif
