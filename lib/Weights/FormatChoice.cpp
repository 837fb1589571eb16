//===- FormatChoice.cpp - Which format each weight gets -------------------===//
#include "ckjit/Graph/RegularFile.h"
#include "ckjit/Weights/Conversion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace ckjit;

DType ckjit::fittingFormat(DType wanted, int64_t row) {
  DType smaller = wanted == DType::Q4_K ? DType::Q5_0 : wanted == DType::Q6_K ? DType::Q8_0 : DType::FP16;
  for (DType type : {wanted, smaller})
    if (row % formatOf(type).elements == 0)
      return type;
  return DType::FP16;
}

Expected<FormatChoice> ckjit::chooseFormats(const ModelConfig &config, const FormatRequest &request) {
  for (const FormatRequest::Layers &layers : request.layers)
    if (layers.first < 0 || layers.last >= config.numLayers || layers.first > layers.last)
      return fieldError("formats", "layers", formatv("{0} to {1}", layers.first, layers.last).str(),
                        formatv("layers 0 to {0}", config.numLayers - 1).str());
  FormatChoice choice;
  for (auto [index, spec] : enumerate(weightTensors(config))) {
    if (!mayBeQuantized(spec.name)) {
      choice.types.push_back(DType::FP32);
      continue;
    }
    DType wanted = spec.layer < 0 ? request.embedding.value_or(request.matrices) : request.matrices;
    for (const FormatRequest::Layers &layers : request.layers)
      if (spec.layer >= layers.first && spec.layer <= layers.last)
        wanted = layers.type;
    // A quantized wo is rows of all heads.
    int64_t row = spec.name == "wo" ? config.numHeads * config.alignedHead() : spec.shape.back();
    choice.types.push_back(fittingFormat(wanted, row));
    if (choice.types.back() != wanted)
      choice.fallbacks.push_back({index, wanted, row});
  }
  return choice;
}
