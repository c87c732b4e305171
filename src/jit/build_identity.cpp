// Finds the build id in the program headers of the library that contains this code.
#include "jit/build_identity.h"

#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>
#include <sys/stat.h>

#include "llvm/Config/llvm-config.h"

#include "support/check.h"

namespace tulle::jit {

namespace {

// An address in this library, which identifies it.
const char kHere = 0;

bool holds(const dl_phdr_info& library, uintptr_t address) {
  for (int h = 0; h < library.dlpi_phnum; ++h) {
    const ElfW(Phdr) & header = library.dlpi_phdr[h];
    const uintptr_t begin = library.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz) {
      return true;
    }
  }
  return false;
}

// The build id among the notes; empty if there is none.
std::string_view build_id(std::string_view notes, size_t alignment) {
  const auto padded = [&](size_t size) { return (size + alignment - 1) / alignment * alignment; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const size_t name = sizeof note, content = padded(name + note.n_namesz);
    const size_t end = padded(content + note.n_descsz);
    if (content + note.n_descsz > notes.size()) return {};
    const bool is_gnu = notes.substr(name, note.n_namesz) == std::string_view("GNU\0", 4);
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return notes.substr(content, note.n_descsz);
    if (end >= notes.size()) return {};
    notes.remove_prefix(end);
  }
  return {};
}

int read_build_id(dl_phdr_info* library, size_t, void* found) {
  if (!holds(*library, reinterpret_cast<uintptr_t>(&kHere))) return 0;
  for (int h = 0; h < library->dlpi_phnum; ++h) {
    const ElfW(Phdr) & header = library->dlpi_phdr[h];
    if (header.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(library->dlpi_addr + header.p_vaddr);
    const std::string_view id = build_id({notes, header.p_memsz}, header.p_align >= 8 ? 8 : 4);
    if (id.empty()) continue;
    *static_cast<std::string*>(found) = id;
    break;
  }
  return 1;
}

std::string file_identity() {
  Dl_info library;
  struct stat status;
  if (!dladdr(&kHere, &library) || stat(library.dli_fname, &status) != 0) return {};
  return concat(status.st_size, " ", status.st_ino, " ", status.st_mtim.tv_sec, " ",
                status.st_mtim.tv_nsec);
}

}  // namespace

const std::string& build_identity() {
  static const std::string identity = [] {
    std::string id;
    dl_iterate_phdr(read_build_id, &id);
    if (id.empty()) id = file_identity();
    return id.empty() ? id : concat(id, " LLVM ", LLVM_VERSION_STRING);
  }();
  return identity;
}

}  // namespace tulle::jit
