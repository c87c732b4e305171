// Lowered programs that an earlier process stored on disk, so that only their code is left to load.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jit/disk_cache.h"
#include "jit/kernel_cache.h"
#include "kernels/code_request.h"
#include "kernels/executable.h"

namespace tulle {

struct KnownProgram {
  LoweredProgram lowered;                          // its kernels are outlines (loop/outline.h)
  std::vector<jit::KernelCache::WantedCode> code;  // of each kernel
};

// The text of an entry; parsing returns nothing if the text is malformed or has another number of
// results.
std::string to_string(const KnownProgram& known);
std::optional<KnownProgram> parse_known_program(const std::string& text, size_t results);

// The key of an entry: the request's program key and the disabled passes, since an entry refers to
// code. Nothing if the request has no program key.
std::optional<jit::ContentHash> stored_key(const CodeRequest& request);

// The program stored under `stored_key(request)`. Nothing if the request has no key, or if the
// entry is missing or unreadable.
std::optional<KnownProgram> find_known_program(const CodeRequest& request, size_t results,
                                               jit::DiskCache& disk);
// Stores the lowered program, whose kernels are complete, under the same key.
void store_known_program(const CodeRequest& request, const LoweredProgram& lowered,
                         const std::vector<jit::KernelCache::WantedCode>& code,
                         jit::DiskCache& disk);

}  // namespace tulle
