//===- CKDialect.td - The ck dialect -----------------------*- tablegen -*-===//
#ifndef CK_DIALECT_TD
#define CK_DIALECT_TD

include "mlir/IR/OpBase.td"

def CK_Dialect : Dialect {
  let name = "ck";
  let cppNamespace = "::ckjit::ck";
  let summary = "A decoder-only transformer over buffers of one arena";
  let description = [{
    Ops write their results to buffers (`outs`), so that a program is a list of
    ops over memrefs and every memref has one place in the arena.

    Shape legend: C context (rows allocated), T tokens (rows computed, T <= C),
    D hidden, I intermediate, H heads, K kv heads, hd head dim, V vocabulary;
    aX is X rounded up to 16. L is the number of fp32 lanes of a vector and
    P = ceil(C/L).

    An activation has one of three layouts:
    * rows   `memref<C x F>`       token-major, as the seed lays it out;
    * heads  `memref<G x C x ad>`  head-major (q, k, v, attention output);
    * panels `memref<P x F x L>`   L tokens side by side, one lane each.
    Quantized for a weight in blocks, panels are `memref<P x B x !ck.panel_block<...>>`.
    Panels make every op vertical: a lane is a token, so no op shuffles and a
    GEMM tile's result is the next GEMM's operand as it stands.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif
