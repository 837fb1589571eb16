//===- Symbols.cpp - What generated code may call -------------------------===//
#include "ckjit/JIT/Symbols.h"
#include "ckjit/Runtime/ThreadTeam.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"

using namespace llvm;
using namespace ckjit;

ArrayRef<AllowedSymbol> ckjit::allowedSymbols() {
  static const AllowedSymbol allowed[] = {{"ckjit_barrier", reinterpret_cast<void *>(&ckjit_barrier)}};
  return allowed;
}

Expected<std::vector<std::string>> ckjit::undefinedSymbols(StringRef object) {
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object, "ckjit"));
  if (!file)
    return file.takeError();
  std::vector<std::string> names;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    if (!(*flags & object::SymbolRef::SF_Undefined) || (*flags & object::SymbolRef::SF_FormatSpecific))
      continue;
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    names.push_back(name->str());
  }
  llvm::sort(names);
  return names;
}

Error ckjit::checkSymbols(StringRef object) {
  auto names = undefinedSymbols(object);
  if (!names)
    return createStringError("the object to link can't be read: " + toString(names.takeError()));
  auto allowed = map_range(allowedSymbols(), [](const AllowedSymbol &symbol) { return symbol.name; });
  for (const std::string &name : *names)
    if (!is_contained(allowed, name))
      return createStringError("generated code refers to '" + name + "', expected nothing but " + join(allowed, ", "));
  return Error::success();
}
