//===- CKAttrs.td - Attributes of the ck dialect -----------*- tablegen -*-===//
#ifndef CK_ATTRS_TD
#define CK_ATTRS_TD

include "CKTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class CK_Attr<string name, string attrMnemonic> : AttrDef<CK_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def CK_ModelAttr : CK_Attr<"Model", "model"> {
  let summary = "Shape of the model a module was imported from";
  let description = [{Everything that plan-memory needs; `eps` and `theta` as in ModelConfig.}];
  let parameters = (ins "int64_t":$layers, "int64_t":$hidden, "int64_t":$intermediate,
                        "int64_t":$heads, "int64_t":$kvHeads, "int64_t":$vocab,
                        "int64_t":$window, "::mlir::FloatAttr":$eps, "::mlir::FloatAttr":$theta);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CK_TargetAttr : CK_Attr<"Target", "target"> {
  let summary = "The CPU that code is generated for";
  let description = [{
    The target is data: no pass reads the host. `features` is the complete +/-
    list; `vectorBits` 128, 256 or 512; `registers` counts vector registers;
    cache sizes are bytes a core.
  }];
  let parameters = (ins "::mlir::StringAttr":$cpu, "::mlir::StringAttr":$features, "int64_t":$vectorBits,
                        "bool":$fma, "int64_t":$registers, "int64_t":$l1, "int64_t":$l2);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// fp32 lanes of a vector.
    int64_t getLanes() const { return getVectorBits() / 32; }
  }];
}

def CK_TileAttr : CK_Attr<"Tile", "tile"> {
  let summary = "The choice of select-strategy for a matrix op";
  let description = [{
    A register tile holds `rows` weight rows times `vectors` panels; a block of
    `panels` panels stays in the second-level cache while the weight rows pass;
    `unroll` steps of the k loop are written out. With `quantize` activations in rows
    become blocks of 8-bit codes inside the kernel (in panels ck.quantize does it before).
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$vectors, "int64_t":$panels, "int64_t":$unroll,
                        DefaultValuedParameter<"bool", "false">:$strict,
                        DefaultValuedParameter<"bool", "false">:$quantize);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def CK_Space : I32EnumAttr<"Space", "What a buffer holds", [
  I32EnumAttrCase<"Weight", 0, "weight">,
  I32EnumAttrCase<"Slot", 1, "slot">,
  I32EnumAttrCase<"Scratch", 2, "scratch">,
  I32EnumAttrCase<"Extra", 3, "extra">]> {
  let cppNamespace = "::ckjit::ck";
}

#endif
