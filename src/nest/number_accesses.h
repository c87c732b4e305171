// Numbers the accesses of a nest.
#pragma once

#include <string>

#include "nest/nest.h"

namespace tulle::nest {

// Numbers accesses in the order of the text; accesses to the same tensor, or to operands with the
// same structure, with the same indices share a number. The stages after this one then depend on
// the text of the nest only.
Nest with_numbered_accesses(const Nest& nest);

// The tensor whose arrays hold the structure of an operand: itself, or the one that it is like.
std::string structure_of(const Nest& nest, const std::string& tensor);

// Whether a result shares the pattern of this operand, under its own name or another one.
bool has_structure_of(const Nest& nest, const Tensor& result, const std::string& operand);

}  // namespace tulle::nest
