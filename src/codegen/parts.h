// What a Module is made of, and the machine description that goes with it: for the files that speak
// LLVM.
#pragma once

#include <memory>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include "codegen/module.h"

namespace tulle::codegen {

struct Module::Parts {
  Target target;
  std::unique_ptr<llvm::LLVMContext> context;  // outlives the module
  std::unique_ptr<llvm::Module> module;
};

// An empty module for a target.
std::unique_ptr<Module::Parts> make_parts(const Target& target);

// The back end for a target, kept per thread: making one takes longer than using it.
llvm::TargetMachine& machine_for(const Target& target);

}  // namespace tulle::codegen
