// The short pipeline of LLVM passes.
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include "codegen/blind_atomics.h"
#include "codegen/parts.h"
#include "codegen/streaming_stores.h"

namespace tulle::codegen {

namespace {

bool asks_for_unrolling(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) {
      const llvm::Instruction* last = block.getTerminator();
      if (last && last->hasMetadata(llvm::LLVMContext::MD_loop)) return true;
    }
  }
  return false;
}

llvm::FunctionPassManager light_pipeline(bool unroll, const Target& target) {
  const bool for_gpu = is_gpu(target);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  if (unroll) {
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, /*OnlyWhenForced=*/true)));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  }
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  if (!is_light_gpu(target)) passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  // A GPU accesses only aligned vectors in one instruction.
  if (for_gpu) passes.addPass(llvm::InferAlignmentPass());
  return passes;
}

}  // namespace

void optimise(Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine_for(module.target()));
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::Module& code = *module.parts().module;
  const bool for_gpu = is_gpu(module.target());
  const bool unrolls = asks_for_unrolling(code) && !is_light_gpu(module.target());
  llvm::FunctionPassManager passes = light_pipeline(unrolls, module.target());
  for (llvm::Function& function : code) {
    if (function.isDeclaration()) continue;
    passes.run(function, functions);
    if (!for_gpu) continue;
    emit_streaming_stores(function);
    emit_blind_atomics(function);
  }
}

}  // namespace tulle::codegen
