//===- CKLayerOps.td - What a transformer computes ---------*- tablegen -*-===//
#ifndef CK_LAYER_OPS_TD
#define CK_LAYER_OPS_TD

include "CKProgramOps.td"

/// Loop bounds and memory plans are made of the dims, so all of them must be known.
class CK_StaticMemRef<list<Type> elements, list<int> ranks>
    : ConfinedType<MemRefRankOf<elements, ranks>, [HasStaticShapePred],
                   "statically shaped " # MemRefRankOf<elements, ranks>.summary, "::mlir::MemRefType">;

def CK_Activation : CK_StaticMemRef<[F32], [2, 3]>;
def CK_Block : Type<CPred<"::llvm::isa<::ckjit::ck::BlockType>($_self)">, "block of quantized weights">;
def CK_PanelBlock : Type<CPred<"::llvm::isa<::ckjit::ck::PanelBlockType>($_self)">, "block of quantized activations">;
/// What a weight or the embedding may be made of.
defvar CK_WeightElements = [F32, BF16, F16, CK_Block];
/// What a matrix multiplies: quantized panels only with a weight in blocks.
def CK_MatrixInput : AnyTypeOf<[CK_Activation, CK_StaticMemRef<[CK_PanelBlock], [2]>],
                                 "statically shaped 2D/3D memref of 32-bit float values, or 2D of panel blocks",
                                 "::mlir::MemRefType">;

def CK_LayerOperands : NativeOpTrait<"LayerOperands"> { let cppNamespace = "::ckjit::ck"; }

/// An op of the forward pass: reads `ins`, writes `outs`, nothing else.
class CK_LayerOp<string opMnemonic, list<Trait> traits = []>
    : CK_Op<opMnemonic, !listconcat(traits, [CK_LayerOperands])> {
  let hasVerifier = 1;
}

def CK_EmbedOp : CK_LayerOp<"embed"> {
  let summary = "Token embedding: y[t] = table[ids[t]] (+ positions[t])";
  let description = [{Ids are in [0, V): the host checks them (SPEC 0.6).}];
  let arguments = (ins CK_StaticMemRef<[I32], [1]>:$ids, CK_StaticMemRef<CK_WeightElements, [2]>:$table,
                       Optional<CK_StaticMemRef<[F32], [2]>>:$positions, CK_Activation:$out);
  let assemblyFormat = [{
    `ins` `(` $ids `,` $table `:` type($ids) `,` type($table) `)`
    (`positions` `(` $positions^ `:` type($positions) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def CK_RMSNormOp : CK_LayerOp<"rmsnorm"> {
  let summary = "y = x * gamma / sqrt(mean(x^2) + eps)";
  let description = [{
    The mean is over the D logical features; `gamma` is [aD]. `rstd` is [C] and
    gets 1 / sqrt(mean(x^2) + eps) of each token, at its position (for x in rows,
    which begin anywhere, at its row); it is there only when ck-materialize asks for it.
  }];
  let arguments = (ins CK_Activation:$x, CK_StaticMemRef<[F32], [1]>:$gamma, CK_Activation:$out,
                       Optional<CK_StaticMemRef<[F32], [1]>>:$rstd, F32Attr:$eps, I64Attr:$features);
  let assemblyFormat = [{
    `ins` `(` $x `,` $gamma `:` type($x) `,` type($gamma) `)` `outs` `(` $out `:` type($out) `)`
    (`rstd` `(` $rstd^ `:` type($rstd) `)`)? `eps` $eps `features` $features attr-dict
  }];
}

def CK_LinearOp : CK_LayerOp<"linear", [AttrSizedOperandSegments]> {
  let summary = "y = x W^T + bias (+ residual), rotated by RoPE when asked";
  let description = [{
    W is [N][K] or, for heads, [G][ad][K]; `rows` is the number of rows used in
    each group (N or hd), `depth` the number of input features used. `cos` and
    `sin` (panels of hd/2 features) rotate each head: with half = hd/2,
    (a, b) = (y[i], y[i+half]) becomes (a c - b s, a s + b c).
    The output holds G*rows features, or with `head_major` is [G][C][ad].
  }];
  let arguments = (ins CK_MatrixInput:$x, CK_StaticMemRef<CK_WeightElements, [2, 3]>:$weight, CK_StaticMemRef<[F32], [1, 2]>:$bias,
                       Optional<CK_Activation>:$residual, Optional<CK_Activation>:$cos, Optional<CK_Activation>:$sin,
                       CK_Activation:$out, UnitAttr:$head_major, I64Attr:$rows, I64Attr:$depth, OptionalAttr<CK_TileAttr>:$tile);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `,` $bias `:` type($x) `,` type($weight) `,` type($bias) `)`
    (`residual` `(` $residual^ `:` type($residual) `)`)?
    (`rope` `(` $cos^ `,` $sin `:` type($cos) `,` type($sin) `)`)?
    `outs` `(` $out `:` type($out) `)` (`head_major` $head_major^)? `rows` $rows `depth` $depth (`tile` $tile^)? attr-dict
  }];
}

def CK_GatedLinearOp : CK_LayerOp<"gated_linear"> {
  let summary = "y = silu(x Wg^T + bg) * (x Wu^T + bu)";
  let description = [{
    W1 is [2][aI][aD], gate rows first. `rows` = I, `depth` = D. What fuse-swiglu
    makes of linear, split and swiglu.
  }];
  let arguments = (ins CK_MatrixInput:$x, CK_StaticMemRef<CK_WeightElements, [3]>:$weight, CK_StaticMemRef<[F32], [2]>:$bias,
                       CK_Activation:$out, I64Attr:$rows, I64Attr:$depth, OptionalAttr<CK_TileAttr>:$tile);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `,` $bias `:` type($x) `,` type($weight) `,` type($bias) `)`
    `outs` `(` $out `:` type($out) `)` `rows` $rows `depth` $depth (`tile` $tile^)? attr-dict
  }];
}

def CK_AttnProjectOp : CK_LayerOp<"attn_project"> {
  let summary = "y = bias + sum over heads of Wo_h a_h (+ residual)";
  let description = [{
    Wo is [H][aD][ad], or [aD][H*ad] in blocks (SPEC 2.3); `rows` = D, `depth` = hd. The
    input holds H*hd features, head by head.
  }];
  let arguments = (ins CK_MatrixInput:$x, CK_StaticMemRef<CK_WeightElements, [2, 3]>:$weight, CK_StaticMemRef<[F32], [1]>:$bias,
                       Optional<CK_Activation>:$residual, CK_Activation:$out, I64Attr:$rows, I64Attr:$depth,
                       OptionalAttr<CK_TileAttr>:$tile);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `,` $bias `:` type($x) `,` type($weight) `,` type($bias) `)`
    (`residual` `(` $residual^ `:` type($residual) `)`)?
    `outs` `(` $out `:` type($out) `)` `rows` $rows `depth` $depth (`tile` $tile^)? attr-dict
  }];
}

def CK_RopeOp : CK_LayerOp<"rope"> {
  let summary = "Rotates each head of x in place (half-split RoPE)";
  let description = [{
    `cos` and `sin` are [C][hd/2]; see `ck.linear` for the formula. fuse-rope
    moves it into the projection before it.
  }];
  let arguments = (ins CK_Activation:$x, CK_StaticMemRef<[F32], [2]>:$cos, CK_StaticMemRef<[F32], [2]>:$sin,
                       UnitAttr:$head_major, I64Attr:$head_dim);
  let assemblyFormat = [{
    `inout` `(` $x `:` type($x) `)` (`head_major` $head_major^)? `table` `(` $cos `,` $sin `:` type($cos) `,` type($sin) `)`
    `head_dim` $head_dim attr-dict
  }];
}

def CK_AttentionOp : CK_LayerOp<"attention"> {
  let summary = "Causal attention: softmax(q k^T / sqrt(hd)) v, keys j <= t";
  let description = [{
    q and out hold H*hd features; k and v are the cache, [K][C][ad]. Query head
    h reads kv head h*K/H. Online softmax over blocks of keys at absolute positions.
  }];
  let arguments = (ins CK_Activation:$q, CK_StaticMemRef<[F32], [3]>:$k, CK_StaticMemRef<[F32], [3]>:$v,
                       CK_Activation:$out, I64Attr:$heads, I64Attr:$head_dim, OptionalAttr<CK_TileAttr>:$tile);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)` `outs` `(` $out `:` type($out) `)`
    `heads` $heads `head_dim` $head_dim (`tile` $tile^)? attr-dict
  }];
}

def CK_AttentionPartOp : CK_LayerOp<"attention_part"> {
  let summary = "Attention over blocks of `keys` keys, each by itself: the first half of few tokens' attention";
  let description = [{
    parts[t][h][c] holds, for the keys [c*keys, (c+1)*keys) up to the token's position, with m their
    largest score: sum of exp(s_j - m) v_j in the lanes [0, ad), m at ad, sum of exp(s_j - m) at ad+1
    (the last dim is ad + 16: the sums of threads lie on lines of their own).
    Blocks stand at absolute positions, so the result depends on no split of tokens or threads.
  }];
  let arguments = (ins CK_Activation:$q, CK_StaticMemRef<[F32], [3]>:$k, CK_StaticMemRef<[F32], [3]>:$v,
                       CK_StaticMemRef<[F32], [4]>:$parts, I64Attr:$heads, I64Attr:$head_dim, I64Attr:$keys);
  let assemblyFormat = [{
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)` `outs` `(` $parts `:` type($parts) `)`
    `heads` $heads `head_dim` $head_dim `keys` $keys attr-dict
  }];
}

def CK_AttentionMergeOp : CK_LayerOp<"attention_merge"> {
  let summary = "Merges the blocks of ck.attention_part, in order";
  let description = [{
    With M the largest m of the token's blocks and w_c = exp(m_c - M):
    y = (sum of w_c * part_c) / (sum of w_c * sum_c).
  }];
  let arguments = (ins CK_StaticMemRef<[F32], [4]>:$parts, CK_Activation:$out, I64Attr:$heads, I64Attr:$head_dim,
                       I64Attr:$keys);
  let assemblyFormat = [{
    `ins` `(` $parts `:` type($parts) `)` `outs` `(` $out `:` type($out) `)`
    `heads` $heads `head_dim` $head_dim `keys` $keys attr-dict
  }];
}

def CK_AddOp : CK_LayerOp<"add"> {
  let summary = "y = a + b";
  let arguments = (ins CK_Activation:$a, CK_Activation:$b, CK_Activation:$out);
  let assemblyFormat = [{
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def CK_SwiGLUOp : CK_LayerOp<"swiglu"> {
  let summary = "y = silu(gate) * up, silu(g) = g / (1 + exp(-g))";
  let arguments = (ins CK_Activation:$gate, CK_Activation:$up, CK_Activation:$out);
  let assemblyFormat = [{
    `ins` `(` $gate `,` $up `:` type($gate) `,` type($up) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def CK_SplitOp : CK_LayerOp<"split"> {
  let summary = "Copies the two halves of a row: gate features first, then up";
  let arguments = (ins CK_Activation:$x, CK_Activation:$first, CK_Activation:$second);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $first `,` $second `:` type($first) `,` type($second) `)` attr-dict
  }];
}

def CK_LMHeadOp : CK_LayerOp<"lm_head"> {
  let summary = "logits[t][v] = sum over D of h[t] * table[v], from the first row wanted on";
  let arguments = (ins CK_MatrixInput:$x, CK_StaticMemRef<CK_WeightElements, [2]>:$table, CK_StaticMemRef<[F32], [2]>:$out,
                       I64Attr:$depth, OptionalAttr<CK_TileAttr>:$tile);
  let assemblyFormat = [{
    `ins` `(` $x `,` $table `:` type($x) `,` type($table) `)` `outs` `(` $out `:` type($out) `)`
    `depth` $depth (`tile` $tile^)? attr-dict
  }];
}

def CK_CrossEntropyOp : CK_LayerOp<"cross_entropy"> {
  let summary = "loss[t] = logsumexp(logits[t]) - logits[t][target[t]]";
  let description = [{A target of -100 gives 0: the position is ignored.}];
  let arguments = (ins CK_StaticMemRef<[F32], [2]>:$logits, CK_StaticMemRef<[I32], [1]>:$targets,
                       CK_StaticMemRef<[F32], [1]>:$out);
  let assemblyFormat = [{
    `ins` `(` $logits `,` $targets `:` type($logits) `,` type($targets) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def CK_QuantizeOp : CK_LayerOp<"quantize"> {
  let summary = "Panels to blocks of 8-bit codes, for a weight in blocks";
  let description = [{
    Each token's block of features gets the scale d = max|x| / 127 and the codes
    round(x / d), half to even; a block with no magnitude of 1.2e-36 or more counts as
    zeros and has d = 0. The features fall into `segments` equal
    parts that the blocks hold padded to equal parts of their own, with zeros.
  }];
  let arguments = (ins CK_StaticMemRef<[F32], [3]>:$x, CK_StaticMemRef<[CK_PanelBlock], [2]>:$out, I64Attr:$segments);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` `segments` $segments attr-dict
  }];
}

def CK_PackOp : CK_LayerOp<"pack"> {
  let summary = "Rows to panels: y[p][f][l] = x[p*L + l][f]";
  let arguments = (ins CK_StaticMemRef<[F32], [2]>:$x, CK_StaticMemRef<[F32], [3]>:$out);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def CK_UnpackOp : CK_LayerOp<"unpack"> {
  let summary = "Panels to a slot of the seed's layout";
  let description = [{
    The features fall into `segments` equal parts: for a rank-2 slot [C][S*a]
    part s starts at column s*a, for a rank-3 slot [S][C][a] it is head s.
    Padding is left alone (the arena starts as zeros).
  }];
  let arguments = (ins CK_StaticMemRef<[F32], [3]>:$x, CK_Activation:$out, I64Attr:$segments);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $out `:` type($out) `)` `segments` $segments attr-dict
  }];
}

#endif
