//===- CKKernelOps.td - The micro-kernels ------------------*- tablegen -*-===//
#ifndef CK_KERNEL_OPS_TD
#define CK_KERNEL_OPS_TD

include "CKProgramOps.td"

def CK_RegisterTileOp : CK_Op<"register_tile", [AttrSizedOperandSegments]> {
  let summary = "The micro-kernel: R x V accumulators of L lanes over one depth";
  let description = [{
    acc[r][v][l] = sum over s < segments, k < depth of
        w[rowOffset[r] + s*weightSegment + k*weightStep] *
        x[columnOffset[v] + (s*depth + k)*L + l]
    Both memrefs are flat (rank 1) and offsets are in elements. Results come row by row: r*V + v.
    `unroll` steps of k are written out. With `strict` the sum is kept in double and
    rounded once.

    With `prefetch` the weights of the tile to come, `prefetch` elements behind each
    of the `parts` equal groups of rows, are brought to the second-level cache meanwhile:
    as many elements a step as the group has rows.
  }];
  let arguments = (ins MemRefRankOf<[F32], [1]>:$weight, Variadic<Index>:$rowOffsets,
                       MemRefRankOf<[F32], [1]>:$x, Variadic<Index>:$columnOffsets, Index:$depth,
                       I64Attr:$segments, I64Attr:$weightSegment, I64Attr:$weightStep, I64Attr:$unroll,
                       UnitAttr:$strict, OptionalAttr<I64Attr>:$prefetch, OptionalAttr<I64Attr>:$parts);
  let results = (outs Variadic<VectorOfRankAndType<[1], [F32]>>:$results);
  let assemblyFormat = [{
    $weight `[` $rowOffsets `]` `,` $x `[` $columnOffsets `]` `depth` $depth
    `segments` $segments `by` $weightSegment `step` $weightStep `unroll` $unroll (`strict` $strict^)?
    (`prefetch` $prefetch^ `parts` $parts)? attr-dict
    `:` type($weight) `,` type($x) `->` type($results)
  }];
  let hasVerifier = 1;
}

def CK_DotTileOp : CK_Op<"dot_tile", [AttrSizedOperandSegments]> {
  let summary = "The micro-kernel of few tokens: R rows of weights against T rows of x";
  let description = [{
    y[t][r] = sum over s < segments, k < depth of
        w[rowOffset[r] + s*weightSegment + k] * x[tokenOffset[t] + s*depth + k]
    Both memrefs are flat (rank 1) and offsets are in elements. Result t is a vector of the
    R sums of token t; R is a power of two. Rows are read one after the other. `unroll` vectors
    of `lanes` elements are a step; each lane sums its elements in order, then the lanes are
    summed as a tree, and what is left of the depth is added one by one: the same sum for any R
    and T. With `strict` it is kept in double and rounded once.

    With `prefetch` the weights that many elements ahead are brought to the first-level cache.
  }];
  let arguments = (ins MemRefRankOf<[F32], [1]>:$weight, Variadic<Index>:$rowOffsets,
                       MemRefRankOf<[F32], [1]>:$x, Variadic<Index>:$tokenOffsets, I64Attr:$depth,
                       I64Attr:$segments, I64Attr:$weightSegment, I64Attr:$lanes, I64Attr:$unroll,
                       UnitAttr:$strict, OptionalAttr<I64Attr>:$prefetch);
  let results = (outs Variadic<VectorOfRankAndType<[1], [F32]>>:$results);
  let assemblyFormat = [{
    $weight `[` $rowOffsets `]` `,` $x `[` $tokenOffsets `]` `depth` $depth
    `segments` $segments `by` $weightSegment `lanes` $lanes `unroll` $unroll (`strict` $strict^)?
    (`prefetch` $prefetch^)? attr-dict
    `:` type($weight) `,` type($x) `->` type($results)
  }];
  let hasVerifier = 1;
}

#endif
