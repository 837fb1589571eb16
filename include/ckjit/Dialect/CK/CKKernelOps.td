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
  let arguments = (ins MemRefRankOf<[F32, BF16, F16], [1]>:$weight, Variadic<Index>:$rowOffsets,
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
  let arguments = (ins MemRefRankOf<[F32, BF16, F16], [1]>:$weight, Variadic<Index>:$rowOffsets,
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

def CK_UnpackRowOp : CK_Op<"unpack_row"> {
  let summary = "A row of a weight in blocks, as floats or as codes with their scales";
  let description = [{
    The row of `depth` weights begins at byte `from`. With one output, fp32, weight k goes to
    out[row*depth + k]. With three, weight k is scale*code + offset: codes[row*depth + k] (bytes), and for each
    group of the format (16 weights of q6_k, else 32) scales[row*depth/group + g] and offsets[...]; formats
    without minima leave offsets alone, their codes are unsigned around the format's zero point:
    weight = scale*(code - zero). `wide` keeps q8_0's codes signed, with zero point 0.
  }];
  let arguments = (ins MemRefRankOf<[I8], [1]>:$weight, Index:$from, Variadic<MemRefRankOf<[I8, F32], [1]>>:$outs,
                       Index:$row, CK_Format:$format, I64Attr:$depth, UnitAttr:$wide);
  let assemblyFormat = [{
    $weight `[` $from `]` `to` $outs `row` $row `format` $format `depth` $depth (`wide` $wide^)? attr-dict
    `:` type($weight) `to` type($outs)
  }];
  let hasVerifier = 1;
}

def CK_Int8TileOp : CK_Op<"int8_tile", [AttrSizedOperandSegments]> {
  let summary = "The micro-kernel of quantized weights: R rows x V panels of L tokens";
  let description = [{
    acc[r][v][l] = sum over k < depth of w[r][k] * x[v][k][l], with w as ck.unpack_row leaves it (rows
    at rowOffsets, in weights) and x panels of ck.panel_block that begin at columnOffsets, in bytes. Products are
    summed as integers over a group, then scaled. Results come row by row: r*V + v.
  }];
  let arguments = (ins MemRefRankOf<[I8], [1]>:$codes, MemRefRankOf<[F32], [1]>:$scales,
                       MemRefRankOf<[F32], [1]>:$offsets, Variadic<Index>:$rowOffsets,
                       MemRefRankOf<[I8], [1]>:$x, Variadic<Index>:$columnOffsets,
                       CK_Format:$format, I64Attr:$depth, UnitAttr:$wide);
  let results = (outs Variadic<VectorOfRankAndType<[1], [F32]>>:$results);
  let assemblyFormat = [{
    $codes `,` $scales `,` $offsets `[` $rowOffsets `]` `,` $x `[` $columnOffsets `]`
    `format` $format `depth` $depth (`wide` $wide^)? attr-dict
    `:` type($codes) `,` type($scales) `,` type($offsets) `,` type($x) `->` type($results)
  }];
  let hasVerifier = 1;
}

def CK_QuantizeRowOp : CK_Op<"quantize_row"> {
  let summary = "One token's features to blocks of 8-bit codes";
  let description = [{
    As ck.quantize, for the `depth` features from x[from] on, to meet weights of `format`: codes from
    codes[token*depth] on, scales[token*depth/block + b] and, for each of the format's groups,
    sums[token*depth/group + g] = scale * sum of its codes, as fp32. Codes stand in the order in which
    ck.int8_dot_tile of the same format and depth unpacks weights.
  }];
  let arguments = (ins MemRefRankOf<[F32], [1]>:$x, Index:$from, MemRefRankOf<[I8], [1]>:$codes,
                       MemRefRankOf<[F32], [1]>:$scales, MemRefRankOf<[F32], [1]>:$sums, Index:$token,
                       CK_Format:$format, I64Attr:$depth);
  let assemblyFormat = [{
    $x `[` $from `]` `to` $codes `,` $scales `,` $sums `[` $token `]` `format` $format `depth` $depth
    attr-dict `:` type($x) `to` type($codes) `,` type($scales) `,` type($sums)
  }];
  let hasVerifier = 1;
}

def CK_Int8DotTileOp : CK_Op<"int8_dot_tile", [AttrSizedOperandSegments]> {
  let summary = "The micro-kernel of few tokens: R rows of quantized weights against T rows of codes";
  let description = [{
    y[t][r] = sum over k < depth of w[r][k] * x[t][k], with row r of the weight as the file has it at byte
    rowOffset[r] and x of token number tokens[t] as ck.quantize_row leaves it. Result t is a vector of the R sums of
    token t; R is a power of two. The order of summing depends on neither R nor T.
    With `prefetch` the weights that many bytes ahead are brought to the first-level cache.
  }];
  let arguments = (ins MemRefRankOf<[I8], [1]>:$weight, Variadic<Index>:$rowOffsets,
                       MemRefRankOf<[I8], [1]>:$codes, MemRefRankOf<[F32], [1]>:$scales,
                       MemRefRankOf<[F32], [1]>:$sums, Variadic<Index>:$tokens,
                       CK_Format:$format, I64Attr:$depth, OptionalAttr<I64Attr>:$prefetch);
  let results = (outs Variadic<VectorOfRankAndType<[1], [F32]>>:$results);
  let assemblyFormat = [{
    $weight `[` $rowOffsets `]` `,` $codes `,` $scales `,` $sums `[` $tokens `]`
    `format` $format `depth` $depth (`prefetch` $prefetch^)? attr-dict
    `:` type($weight) `,` type($codes) `,` type($scales) `,` type($sums) `->` type($results)
  }];
  let hasVerifier = 1;
}

#endif
