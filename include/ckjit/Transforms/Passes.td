//===- Passes.td - All passes of the pipeline --------------*- tablegen -*-===//
#ifndef CK_PASSES_TD
#define CK_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// On the program: one function of layer ops over buffers
//===----------------------------------------------------------------------===//

def FuseRope : Pass<"ck-fuse-rope", "::mlir::func::FuncOp"> {
  let summary = "Rotate heads inside the projection that computes them";
  let description = [{
    A `ck.rope` whose operand was written by the `ck.linear` before it, with no
    other access in between, becomes that op's `rope(cos, sin)`.
  }];
  let statistics = [Statistic<"fused", "fused", "Number of rope ops fused">];
}

def FuseSwiGLU : Pass<"ck-fuse-swiglu", "::mlir::func::FuncOp"> {
  let summary = "Make linear, split and swiglu one gated_linear";
  let description = [{
    Needs the two intermediate buffers to have no other reader, so that the wide
    row (2*I values a token) never touches memory.
  }];
  let statistics = [Statistic<"fused", "fused", "Number of gated linears made">];
}

def FuseResidual : Pass<"ck-fuse-residual", "::mlir::func::FuncOp"> {
  let summary = "Add the residual where the projection is stored";
  let description = [{
    `ck.add` of a value and a projection that nothing else reads becomes the
    projection's `residual`, if the other value is complete before the projection.
  }];
  let statistics = [Statistic<"fused", "fused", "Number of adds fused">];
}

def Materialize : Pass<"ck-materialize", "::mlir::func::FuncOp"> {
  let summary = "Copy every op's result to its slot of the seed's arena";
  let description = [{
    For inspection and parity. A scratch buffer with a name of the arena plan
    gets a `ck.unpack` after the op that writes it. A `ck.rmsnorm` that writes
    "ln1_out", "ln2_out" or "final_output" also gets `rstd`, the slot "ln1_rstd",
    "ln2_rstd" or "final_ln_rstd". Needs panels (run ck-pack-activations first)
    and the module's `ck.model`.
  }];
  let dependentDialects = ["::ckjit::ck::CKDialect"];
  let statistics = [Statistic<"slots", "slots", "Number of slots written">];
}

def SplitAttention : Pass<"ck-split-attention", "::mlir::func::FuncOp"> {
  let summary = "Attention of a program in rows: blocks of keys by themselves, then merged";
  let description = [{
    In a function with `ck.rows`, `ck.attention` becomes `ck.attention_part` and
    `ck.attention_merge`. Few tokens leave few heads to share; blocks of keys give every
    thread work in a long context.
  }];
  let options = [Option<"keys", "keys", "int64_t", "128", "keys of a block">];
  let dependentDialects = ["::ckjit::ck::CKDialect"];
  let statistics = [Statistic<"split", "split", "Number of attention ops split">];
}

def PackActivations : Pass<"ck-pack-activations", "::mlir::func::FuncOp"> {
  let summary = "Lay scratch activations out in panels of L tokens";
  let description = [{
    Before: `ck.buffer scratch "ln1_out" layer 0 : memref<512x576xf32>`
    After (L = 16): `memref<32x576x16xf32>`. L comes from the module's `ck.target`.
    RoPE tables that a projection reads are packed once, at the program's start.
  }];
  let dependentDialects = ["::ckjit::ck::CKDialect"];
  let statistics = [Statistic<"packed", "packed", "Number of buffers laid out in panels">];
}

def QuantizeActivations : Pass<"ck-quantize-activations", "::mlir::func::FuncOp"> {
  let summary = "Quantize what weights in blocks multiply, once for all that read it";
  let description = [{
    A matrix op on panels whose weight is in blocks gets its input from a `ck.quantize` before the first such op.
    Programs in rows quantize inside their kernels (the strategy's `quantize`).
  }];
  let dependentDialects = ["::ckjit::ck::CKDialect"];
  let statistics = [Statistic<"quantized", "quantized", "Number of buffers quantized">];
}

def PlanMemory : Pass<"ck-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer its offset in the arena";
  let description = [{
    Weights and slots get the seed's offsets (from the arena plan of `ck.model`),
    extra buffers stand behind them, scratch buffers share what is left by
    lifetime. Writes `ck.arena_bytes` on the module.
  }];
  let options = [Option<"training", "training", "bool", "false", "plan the seed's training buffers too">];
  let statistics = [Statistic<"scratchBytes", "scratch-bytes", "Bytes of shared scratch">];
}

def InsertBarriers : Pass<"ck-insert-barriers", "::mlir::func::FuncOp"> {
  let summary = "Separate ops that touch the same bytes by a barrier";
  let description = [{
    Walks the program once and keeps what was read and written since the last
    barrier. With planned buffers bytes are compared, so shared scratch counts.
  }];
  let dependentDialects = ["::ckjit::ck::CKDialect"];
  let statistics = [Statistic<"barriers", "barriers", "Number of barriers inserted">];
}

def OutlineKernels : Pass<"ck-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make one kernel of each distinct op and launch it";
  let description = [{
    Two ops are the same kernel when their name, attributes and operand types
    agree, so thirty equal layers compile once.
  }];
  let dependentDialects = ["::ckjit::ck::CKDialect"];
  let statistics = [Statistic<"kernels", "kernels", "Number of kernels made">,
                    Statistic<"launches", "launches", "Number of launches">];
}

//===----------------------------------------------------------------------===//
// On kernels: choose, then lower
//===----------------------------------------------------------------------===//

def SelectStrategy : Pass<"ck-select-strategy", "::mlir::ModuleOp"> {
  let summary = "Write each matrix op's tile as an attribute";
  let description = [{
    Rows and vectors fill the target's registers, panels half of its second-level cache. Of activations in
    rows a tile takes four rows of each part, and as vectors the tokens whose sums the registers hold;
    the options are for panels.
    Only attributes are written; an op that has a `tile` keeps it. Zero means: choose.
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "0", "weight rows of a register tile">,
    Option<"vectors", "vectors", "int64_t", "0", "panels of a register tile">,
    Option<"panels", "panels", "int64_t", "0", "panels of a cache block">,
    Option<"unroll", "unroll", "int64_t", "0", "steps of the k loop written out">,
    Option<"strict", "strict", "bool", "false", "accumulate in double">,
    Option<"quantize", "quantize", "bool", "true", "activations in rows become codes for weights in blocks">];
  let statistics = [Statistic<"chosen", "chosen", "Number of ops given a tile">];
}

def LowerElementwise : Pass<"ck-lower-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Lower all ops but matrix ops and attention to affine loops";
  let description = [{
    The loops are scalar; those over the lanes of a panel carry `ck.lanes` for
    ck-vectorize-lanes. Threads share panels (rows for cross_entropy). On activations in rows the
    loops go over whole vectors of features, which threads share.
  }];
  let options = [Option<"strict", "strict", "bool", "false", "correctly rounded exp">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Number of ops lowered">];
}

def LowerLinear : Pass<"ck-lower-linear", "::mlir::func::FuncOp"> {
  let summary = "Lower linear, gated_linear, attn_project and lm_head to loops of register tiles or dot tiles";
  let description = [{
    A nest over tiles of weight rows (shared among threads) and panels; the
    panel loop carries `ck.block` and `ck.jam` from the op's tile. Bias, RoPE,
    SwiGLU, residual and the store are vector ops behind the tile. Activations
    in rows give `ck.dot_tile`, for as many tokens at once as the tile has
    vectors, then one by one.
  }];
  let options = [Option<"strict", "strict", "bool", "false", "correctly rounded exp">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Number of ops lowered">];
}

def LowerAttention : Pass<"ck-lower-attention", "::mlir::func::FuncOp"> {
  let summary = "Lower attention to an online softmax over blocks of keys";
  let description = [{
    Threads share (kv head, panel of queries); a lane is a query. Scores and the weighted
    sum are register tiles, the softmax between them scalar loops over lanes.
    Of the halves in rows threads share (token, kv head, block of keys) and (token, head);
    scores are dot tiles, lanes are keys and then those of a head.
  }];
  let options = [Option<"keyBlock", "key-block", "int64_t", "64", "keys of a block, a multiple of 16">,
                 Option<"strict", "strict", "bool", "false", "correctly rounded exp">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Number of ops lowered">];
}

def BlockPanels : Pass<"ck-block-panels", "::mlir::func::FuncOp"> {
  let summary = "Tile a panel loop for the cache and move the block loop outside";
  let description = [{
    Before: `affine.for %row { affine.for %p {ck.block = 12} }`
    After:  `affine.for %block step 12 { affine.for %row { affine.for %p = %block to min(%block + 12, P) } }`
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect"];
  let statistics = [Statistic<"blocked", "blocked", "Number of loops blocked">];
}

def JamPanels : Pass<"ck-jam-panels", "::mlir::func::FuncOp"> {
  let summary = "Unroll a panel loop and jam its register tiles into one";
  let description = [{
    Before: `affine.for %p {ck.jam = 3} { ck.register_tile w[...], x[%p] }`
    After: a loop by 3 with one tile of three vectors, then a loop by 1 for the rest.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"jammed", "jammed", "Number of loops jammed">];
}

def VectorizeLanes : Pass<"ck-vectorize-lanes", "::mlir::func::FuncOp"> {
  let summary = "Turn a loop over lanes into vector ops";
  let description = [{
    Every fp32 value that depends on the lane becomes a vector; loads and stores
    whose last index is the lane become vector loads and stores, other loads are
    broadcast. Loops inside keep their shape, with vectors as iter_args.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"vectorized", "vectorized", "Number of lane loops vectorized">];
}

def LowerRegisterTile : Pass<"ck-lower-register-tile", "::mlir::func::FuncOp"> {
  let summary = "Lower the micro-kernel to vector.fma with accumulators as iter_args";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Number of register tiles lowered">];
}

def LowerDotTile : Pass<"ck-lower-dot-tile", "::mlir::func::FuncOp"> {
  let summary = "Lower the micro-kernel of few tokens to vector.fma over the depth";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Number of dot tiles lowered">];
}

def LowerUnpack : Pass<"ck-lower-unpack", "::mlir::func::FuncOp"> {
  let summary = "Lower unpack_row and quantize_row to vector ops on bytes";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Number of ops lowered">];
}

def LowerInt8Tile : Pass<"ck-lower-int8-tile", "::mlir::func::FuncOp"> {
  let summary = "Lower the micro-kernels of quantized weights to the target's byte dot products";
  let description = [{
    vpdpbusd with AVX512-VNNI or AVX-VNNI, vpmaddubsw and vpmaddwd with AVX2 (in AVX-512 and SSSE3 their own widths), and
    plain 32-bit products where there is none of them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"lowered", "lowered", "Number of tiles lowered">];
}

def ExpandMath : Pass<"ck-expand-math", "::mlir::func::FuncOp"> {
  let summary = "Expand math to arithmetic that needs no library";
  let description = [{
    exp becomes a polynomial (1 ulp in fp32); on a target without FMA, fused
    multiply-adds become a multiply and an add, and on one without F16C fp16 becomes fp32 by
    integer arithmetic.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"expanded", "expanded", "Number of ops expanded">];
}

def InjectFault : Pass<"ck-inject-fault", "::mlir::func::FuncOp"> {
  let summary = "Break kernels on purpose, to test that it is noticed";
  let description = [{
    In each kernel whose name starts with `kernel`, every store writes twice its
    value. Stores to the kernel's own stack count too, so a value that is stored,
    read and stored again (a tile turned on the stack, attention's running sums)
    is doubled each time. An empty `kernel` breaks nothing.
  }];
  let options = [Option<"kernel", "kernel", "std::string", "", "first letters of the kernels' names">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"injected", "injected", "Number of stores doubled">];
}

def EmptyKernels : Pass<"ck-empty-kernels", "::mlir::func::FuncOp"> {
  let summary = "Leave nothing in kernels, to time what stands between them";
  let description = [{
    Erases what a kernel does. Launches and barriers stay, so the time of such a
    program is what a model spends outside its kernels. For benchmarks only.
  }];
  let statistics = [Statistic<"emptied", "emptied", "Number of kernels emptied">];
}

def LowerToLLVM : Pass<"ck-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower everything to the LLVM dialect in one conversion";
  let description = [{
    affine, scf, cf, memref, vector, math, arith and func at once: one walk instead of
    the ten of the separate passes. Memrefs are passed as bare pointers. A kernel whose buffers would need more of a
    thread's stack than `max-stack` is an error: rows of a weight in blocks are unpacked there, and a host's threads
    may have small stacks.
  }];
  let options = [Option<"maxStack", "max-stack", "int64_t", "1 << 20",
                        "Bytes of stack that the buffers of one kernel may take">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerProgram : Pass<"ck-lower-program", "::mlir::ModuleOp"> {
  let summary = "Lower buffers, launches and barriers to an SPMD entry function";
  let description = [{
    The program gets the arguments (team, tid, threads, T, first row, position, weights,
    state): a weight is a view of the first arena, any other buffer of the second, at the
    offsets of one plan. A barrier is a call of `ckjit_barrier(team)`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif
