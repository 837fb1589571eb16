//===- Emulator.h - Programs on an emulated CPU -----------------*- C++ -*-===//
#ifndef CKJIT_TEST_EMULATOR_EMULATOR_H
#define CKJIT_TEST_EMULATOR_EMULATOR_H

#include "JIT/QuantizedOps.h"

namespace ckjit::test {

/// What the emulated CPU runs: a Tiger Lake, with AVX-512 up to VNNI, but without GFNI: Bochs 2.7 inverts all bits that
/// gf2p8affineqb gives.
const TargetDescription &emulatedTarget();

/// Runs each program once, by one thread, in one start of the emulator, and gives it its arena back. Error, with what
/// the emulator said, if there is none, and for the first program that doesn't come to its end.
llvm::Error runEmulated(llvm::ArrayRef<std::unique_ptr<OpRun>> ops);

/// Instructions of the program, as the assembler prints them.
std::vector<std::string> instructionsOf(const CompiledObject &compiled);

} // namespace ckjit::test
#endif
