//===- CompilerIdentity.cpp - Which build of the compiler this is ---------===//
//
// A linker's build id is a hash of what it links: any change of this project's code, or of LLVM's, gives another.
//
#include "ckjit/JIT/CacheEntry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <elf.h>
#include <link.h>

using namespace llvm;
using namespace ckjit;

/// The build id among the notes of a loaded segment; empty if there is none.
static ArrayRef<uint8_t> buildIdIn(ArrayRef<uint8_t> notes) {
  constexpr uint64_t kNoteAlign = 4;
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    const auto *header = reinterpret_cast<const ElfW(Nhdr) *>(notes.data());
    uint64_t name = alignTo(header->n_namesz, kNoteAlign), description = alignTo(header->n_descsz, kNoteAlign);
    notes = notes.drop_front(sizeof(*header));
    if (name + description > notes.size())
      break;
    StringRef owner(reinterpret_cast<const char *>(notes.data()), header->n_namesz);
    if (header->n_type == NT_GNU_BUILD_ID && owner == StringRef(ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
      return notes.slice(name, header->n_descsz);
    notes = notes.drop_front(name + description);
  }
  return {};
}

namespace {
struct Search {
  std::string ids;      ///< of the modules that matter, in the order in which they were loaded
  bool missing = false; ///< one of them has none
};
} // namespace

/// Adds the id of a loaded module if it takes part in compiling.
static int visitModule(dl_phdr_info *info, size_t, void *data) {
  static const char here = 0;
  auto &search = *static_cast<Search *>(data);
  StringRef name = sys::path::filename(info->dlpi_name);
  bool compiles = name.starts_with("libLLVM") || name.starts_with("libMLIR");
  ArrayRef<uint8_t> id;
  for (const ElfW(Phdr) & header : ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
    ElfW(Addr) start = info->dlpi_addr + header.p_vaddr, at = reinterpret_cast<ElfW(Addr)>(&here);
    if (header.p_type == PT_LOAD && at >= start && at - start < header.p_memsz)
      compiles = true;
    if (header.p_type == PT_NOTE && id.empty())
      id = buildIdIn(ArrayRef(reinterpret_cast<const uint8_t *>(start), header.p_memsz));
  }
  if (compiles) {
    search.missing |= id.empty();
    search.ids += toHex(id, /*LowerCase=*/true) + " ";
  }
  return 0;
}

std::string ckjit::compilerIdentity() {
  Search search;
  dl_iterate_phdr(visitModule, &search);
  return search.missing ? "" : search.ids;
}
