// Generated code on its way from LLVM IR to an object file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/target.h"

namespace tulle::codegen {

// An LLVM module with its context; LLVM's headers stay behind `Parts`.
class Module {
 public:
  struct Parts;
  explicit Module(std::unique_ptr<Parts> parts);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  Parts& parts() const { return *parts_; }
  const Target& target() const;

 private:
  std::unique_ptr<Parts> parts_;
};

// The light pipeline: promotes to registers, removes common subexpressions, hoists out of loops.
// Vectors and unrolling are already explicit, and nothing here reorders floating-point arithmetic.
void optimise(Module& module);

// What the module holds, as LLVM IR, as assembly and as a relocatable object file for its target.
std::string print_llvm(const Module& module);
std::string assembly(const Module& module);
std::vector<char> object(const Module& module);

}  // namespace tulle::codegen
