// Programs that an earlier process made ready, on disk: what planning and lowering would hand on
// again, so that only code is left to load.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compile.h"
#include "jit/content_hash.h"
#include "jit/disk_cache.h"
#include "jit/kernel_cache.h"
#include "tulle/tulle.h"

namespace tulle {

// Stands for all that a program is made from: its text, in which language, and what came with it.
jit::ContentHash source_of(std::string_view language, std::string_view text,
                           const std::vector<TensorSpec>& operands, const ProgramOptions& options);

struct KnownProgram {
  LoweredProgram lowered;                          // its kernels are outlines (loop/outline.h)
  std::vector<jit::KernelCache::WantedCode> code;  // of each kernel
};

// The text of an entry, and the way back: nothing where the text is none, with as many results as
// it has to have.
std::string to_string(const KnownProgram& known);
std::optional<KnownProgram> parse_known_program(const std::string& text, size_t results);

// The program of an equal request. Nothing where there is none, where what is there cannot be read,
// and where programs are not kept: without a source, in checked mode, and with decisions.
std::optional<KnownProgram> find_known_program(const CompileRequest& request, jit::DiskCache& disk);
// Of the lowered program as it was made ready, with whole kernels.
void keep_known_program(const CompileRequest& request, const LoweredProgram& lowered,
                        const std::vector<jit::KernelCache::WantedCode>& code,
                        jit::DiskCache& disk);

}  // namespace tulle
