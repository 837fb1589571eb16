//===- CKTypes.td - Types of the ck dialect ----------------*- tablegen -*-===//
#ifndef CK_TYPES_TD
#define CK_TYPES_TD

include "CKDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"

/// A format of quantized weights. A new one is a line here and in lib/Layout/WeightFormat.cpp, a codec in
/// lib/Weights and one in lib/Transforms/BlockCodec.cpp. Numbers are the dtype codes of the weight file.
def CK_Format : I32EnumAttr<"Format", "How a block of weights is stored", [
  I32EnumAttrCase<"Q4_0", 5, "q4_0">,
  I32EnumAttrCase<"Q4_1", 6, "q4_1">,
  I32EnumAttrCase<"Q4_K", 7, "q4_k">,
  I32EnumAttrCase<"Q6_K", 8, "q6_k">,
  I32EnumAttrCase<"Q8_0", 9, "q8_0">,
  I32EnumAttrCase<"Q5_0", 11, "q5_0">,
  I32EnumAttrCase<"Q5_1", 12, "q5_1">]> {
  let cppNamespace = "::ckjit::ck";
}

class CK_ElementType<string name, string typeMnemonic>
    : TypeDef<CK_Dialect, name, [MemRefElementTypeInterface]> {
  let mnemonic = typeMnemonic;
}

def CK_BlockType : CK_ElementType<"Block", "block"> {
  let summary = "A block of quantized weights, neighbours in a row, as the weight file has them (SPEC 5)";
  let description = [{
    A weight of 1536 rows and 576 columns in blocks of 32 is
    `memref<1536x18x!ck.block<q8_0>>`: rows are whole blocks by the type.
  }];
  let parameters = (ins EnumParameter<CK_Format>:$format);
  let assemblyFormat = "`<` $format `>`";
  let extraClassDeclaration = [{
    /// Weights of a block, and its bytes.
    int64_t getElements() const;
    int64_t getBytes() const;
    /// Features that share a scale in activations for this format; for k-quants too: with a scale for 256, as the
    /// seed has it, a model's logits would be off by a third more.
    int64_t getActivationBlock() const { return 32; }
  }];
}

def CK_PanelBlockType : CK_ElementType<"PanelBlock", "panel_block"> {
  let summary = "A block of quantized activations: `features` of `tokens` tokens side by side";
  let description = [{
    Bytes: the codes, [features/4][tokens][4] signed bytes; `tokens` fp32 scales d (x = d*code); and sums
    of codes, [features/16][tokens] 32-bit integers, of 16 features each. Activations of T tokens are `memref<P x B x !ck.panel_block<...>>`.
  }];
  let parameters = (ins "int64_t":$features, "int64_t":$tokens);
  let assemblyFormat = "`<` $features `x` $tokens `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getGroup() const { return 16; }
    /// Bytes where the scales begin, where the sums do, and all.
    int64_t getScalesAt() const { return getFeatures() * getTokens(); }
    int64_t getSumsAt() const { return getScalesAt() + 4 * getTokens(); }
    int64_t getBytes() const { return getSumsAt() + getFeatures() / getGroup() * 4 * getTokens(); }
  }];
}

#endif
