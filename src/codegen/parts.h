// The contents of a Module and its target machine, for the files that use LLVM.
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

// The back end of a target, cached per thread, because creating it takes longer than using it.
llvm::TargetMachine& machine_for(const Target& target);

}  // namespace tulle::codegen
