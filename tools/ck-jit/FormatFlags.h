//===- FormatFlags.h - The formats of weights that are written --*- C++ -*-===//
#ifndef CKJIT_TOOLS_FORMATFLAGS_H
#define CKJIT_TOOLS_FORMATFLAGS_H

#include "ckjit/Runtime/ThreadTeam.h"
#include "ckjit/Weights/Conversion.h"
#include "llvm/Support/CommandLine.h"

namespace ckjit::tool {

/// Refuses what is no weight format's name.
struct FormatParser : llvm::cl::parser<std::string> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef name, llvm::StringRef argument, std::string &value);
};
using FormatOption = llvm::cl::opt<std::string, false, FormatParser>;

/// What a verb's help says of the formats.
inline constexpr llvm::StringLiteral kFormatHelp =
    "    fp32  32 bits, exact          q8_0  8.5 bits a weight, error 0.5 %\n"
    "    bf16  16 bits, error 0.17 %   q6_k  6.6 bits,          error 1.7 %\n"
    "    fp16  16 bits, error 0.02 %   q5_1  6 bits, q5_0 5.5,  error 3.4 and 4.0 %\n"
    "                                  q4_1  5 bits, q4_0 4.5,  error 7.0 and 8.1 %\n"
    "                                  q4_k  4.5 bits,          error 7.0 %\n\n"
    "  Errors are relative root mean squares of normally distributed weights. q4_k and q6_k have blocks\n"
    "  of 256 weights of a row, the others of 32. Where a row isn't whole blocks, q5_0 is taken for q4_k,\n"
    "  q8_0 for q6_k, and fp16 where that doesn't fit either; a note says so. Norms, biases and positions\n"
    "  are always fp32.\n";

/// --type, --embed and --layers. Declared once a verb, as a static beside its subcommand.
struct FormatFlags {
  explicit FormatFlags(llvm::cl::SubCommand &command);

  FormatOption type, embed;
  llvm::cl::list<std::string> layers;

  /// True if any was given.
  bool given() const;
  /// Wrong usage: --layers that names no layers or no format.
  llvm::Expected<FormatRequest> request() const;
};

/// Says on stderr which weights got another format than was asked for; nothing where none did.
void noteFallbacks(const ModelConfig &config, const FormatChoice &choice);

/// Spreads tasks over a team, which must outlive it.
ParallelFor onTeam(ThreadTeam &team);

} // namespace ckjit::tool
#endif
