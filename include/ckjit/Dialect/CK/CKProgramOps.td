//===- CKProgramOps.td - Buffers, launches, barriers -------*- tablegen -*-===//
#ifndef CK_PROGRAM_OPS_TD
#define CK_PROGRAM_OPS_TD

include "CKAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class CK_Op<string opMnemonic, list<Trait> traits = []> : Op<CK_Dialect, opMnemonic, traits>;

def CK_BufferOp : CK_Op<"buffer", [Pure]> {
  let summary = "A named place in the arena";
  let description = [{
    `weight` and `slot` buffers are the seed's (their offset comes from the
    arena plan, by name and layer); `scratch` lives only between its first and
    last use and shares memory with others; `extra` stands behind the seed's
    buffers for the whole run. `offset` (bytes) is written by plan-memory.

    ```mlir
    %0 = ck.buffer weight "wq" layer 0 at 103296 : memref<3x32x64xf32>
    ```
  }];
  let arguments = (ins CK_Space:$space, StrAttr:$name, OptionalAttr<I64Attr>:$layer,
                       OptionalAttr<I64Attr>:$offset);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = [{
    $space $name (`layer` $layer^)? (`at` $offset^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def CK_BytesOp : CK_Op<"bytes", [Pure]> {
  let summary = "The bytes of a buffer of blocks";
  let description = [{
    Only lower-program knows that a kernel's buffer of blocks is bytes; kernels say so by this op.
  }];
  let arguments = (ins AnyStaticShapeMemRef:$buffer);
  let results = (outs MemRefRankOf<[I8], [1]>:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `to` type($result)";
  let hasVerifier = 1;
}

def CK_BarrierOp : CK_Op<"barrier"> {
  let summary = "Every thread of the team waits for all others";
  let description = [{Placed by insert-barriers between ops that touch the same buffer.}];
  let assemblyFormat = "attr-dict";
}

def CK_LaunchOp : CK_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel on every thread of the team";
  let description = [{
    The kernel gets the thread's id, the number of threads, T and the first row
    of logits wanted before `operands`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyMemRef>:$operands);
  let assemblyFormat = "$kernel `(` $operands `)` attr-dict (`:` type($operands)^)?";
}

#endif
