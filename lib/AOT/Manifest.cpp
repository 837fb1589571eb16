//===- Manifest.cpp - FILE.kernels.json -----------------------------------===//
#include "Parts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ckjit;

/// Bytes of machine code of each function of an object.
static Expected<StringMap<uint64_t>> codeSizes(StringRef bytes) {
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(bytes, "model"));
  if (!file)
    return file.takeError();
  auto *elf = dyn_cast<object::ELFObjectFileBase>(file->get());
  if (!elf)
    return createStringError("the model's object isn't ELF");
  StringMap<uint64_t> sizes;
  for (object::ELFSymbolRef symbol : elf->symbols()) {
    if (symbol.getELFType() != ELF::STT_FUNC)
      continue;
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    sizes[*name] = symbol.getSize();
  }
  return sizes;
}

/// The format of the weights that a kernel reads, which its name tells after the shape; fp32 goes without saying.
static StringRef weightFormatOf(StringRef kernel) {
  for (StringRef part : split(kernel, '.'))
    if (const WeightFormat *format = findWeightFormat(part))
      return format->name;
  return dtypeName(DType::FP32);
}

/// A kernel's name is its op, then the shape that matters, the format of its weights where that isn't fp32, then what
/// is fused: "linear.9x64x576.rope", "linear.9x64x576.q4_k.int8".
static void writeKernel(json::OStream &out, StringRef name, const TargetDescription &target, uint64_t bytes) {
  auto [op, rest] = name.split('.');
  StringRef shape = rest.take_while([](char c) { return isDigit(c) || c == 'x'; });
  out.object([&] {
    out.attribute("name", name);
    out.attribute("op", op);
    out.attributeArray("shape", [&] {
      for (StringRef extents = shape; !extents.empty();) {
        int64_t extent = 0;
        extents.consumeInteger(10, extent);
        extents.consume_front("x");
        out.value(extent);
      }
    });
    out.attribute("dtype", weightFormatOf(name));
    out.attribute("target", target.cpu);
    out.attribute("object_size", static_cast<int64_t>(bytes));
  });
}

Expected<std::string> ckjit::aot::kernelManifest(const CompiledObject &compiled, AotMode mode, bool strict,
                                                 StringRef file) {
  auto sizes = codeSizes(StringRef(compiled.object.data(), compiled.object.size()));
  if (!sizes)
    return sizes.takeError();
  std::string text;
  raw_string_ostream stream(text);
  json::OStream out(stream, /*IndentSize=*/2);
  Error error = Error::success();
  out.object([&] {
    out.attribute("file", file);
    out.attribute("mode", mode == AotMode::Library ? "library" : "standalone");
    out.attribute("target", compiled.target.cpu);
    out.attribute("strict", strict);
    out.attributeArray("kernels", [&] {
      for (const std::string &kernel : compiled.kernels) {
        auto size = sizes->find(kernel);
        if (size == sizes->end())
          error = joinErrors(std::move(error), createStringError("the model's object has no kernel " + kernel));
        else
          writeKernel(out, kernel, compiled.target, size->second);
      }
    });
  });
  stream << "\n";
  if (error)
    return error;
  return text;
}
