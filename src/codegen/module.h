// A module of generated code, from LLVM IR to an object file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/target.h"

namespace tulle::codegen {

// An LLVM module with its context. `Parts` hides LLVM's headers.
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

// Runs the short pipeline: promotion to registers, common subexpression elimination, loop-invariant
// code motion. Vectors and unrolling are explicit in the loop IR, and no pass reorders
// floating-point arithmetic.
void optimise(Module& module);

// The module as LLVM IR, as assembly, and as a relocatable object file for its target.
std::string print_llvm(const Module& module);
std::string assembly(const Module& module);
std::vector<char> object(const Module& module);

}  // namespace tulle::codegen
