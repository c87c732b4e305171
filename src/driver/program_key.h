// Keys under which lowered programs are stored on disk.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "driver/compile.h"
#include "jit/content_hash.h"
#include "tulle/tulle.h"

namespace tulle {

// Hashes the input of the caller: the text, its language, the operands and the options.
jit::ContentHash source_of(std::string_view language, std::string_view text,
                           const std::vector<TensorSpec>& operands, const ProgramOptions& options);

// Hashes everything that the lowered program of the request depends on. Nothing for requests whose
// programs are not stored: those without a source, in checked mode, or with decisions.
std::optional<jit::ContentHash> program_key(const CompileRequest& request);

}  // namespace tulle
