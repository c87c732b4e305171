// Target machines: features of the host, LLVM's back ends, and generation of assembly and object
// files.
#include <algorithm>
#include <map>
#include <mutex>

#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "codegen/parts.h"
#include "support/check.h"

namespace tulle::codegen {

namespace {

void register_back_ends() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  register_back_ends();
  const llvm::Triple triple(target.triple);
  std::string problem;
  const llvm::Target* back_end = llvm::TargetRegistry::lookupTarget(triple, problem);
  TULLE_CHECK(back_end, "no back end for ", target.triple, ": ", problem);
  std::unique_ptr<llvm::TargetMachine> machine(back_end->createTargetMachine(
      triple, target.cpu, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      llvm::CodeModel::Small,
      target.light ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
  TULLE_CHECK(machine, "no machine for ", target.triple, " ", target.cpu);
  machine->setO0WantsFastISel(false);  // a single instruction selector
  return machine;
}

// The driver's assembler takes time in proportion to the number of instructions. These passes
// remove most copies and jumps of light code in a fraction of the time that the assembler would
// take for them.
void add_light_gpu_passes(llvm::TargetMachine& machine, llvm::legacy::PassManager& passes,
                          llvm::raw_pwrite_stream& out) {
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(info);
  for (const char* costly :
       {&llvm::EarlyTailDuplicateLegacyID, &llvm::EarlyMachineLICMID, &llvm::MachineCSELegacyID,
        &llvm::MachineSinkingLegacyID, &llvm::PeepholeOptimizerLegacyID}) {
    config->disablePass(costly);
  }
  bool is_refused = config->addISelPasses();
  machine.setOptLevel(llvm::CodeGenOptLevel::Less);
  config->addMachinePasses();
  machine.setOptLevel(llvm::CodeGenOptLevel::None);
  config->setInitialized();
  is_refused |= machine.addAsmPrinter(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                      info->getMMI().getContext());
  TULLE_CHECK(!is_refused, "no light code for ", machine.getTargetTriple().str());
  passes.add(llvm::createFreeMachineFunctionPass());
}

// Code generation modifies the module; hence the copy.
llvm::SmallVector<char, 0> generate(const Module& module, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*module.parts().module);
  llvm::TargetMachine& machine = machine_for(module.target());
  if (is_light_gpu(module.target())) {
    TULLE_CHECK(kind == llvm::CodeGenFileType::AssemblyFile, "GPUs have no objects");
    add_light_gpu_passes(machine, passes, out);
  } else {
    TULLE_CHECK(!machine.addPassesToEmitFile(passes, out, nullptr, kind), "no such output for ",
                module.target().triple);
  }
  passes.run(*copy);
  return bytes;
}

}  // namespace

Module::Module(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;
const Target& Module::target() const { return parts_->target; }

Target host_target() {
  // Cached, because every compilation needs it and cpuid is slow on virtual machines.
  static const Target host = [] {
    llvm::SubtargetFeatures features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
      features.AddFeature(feature.first(), feature.second);
    }
    return Target{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(),
                  features.getString()};
  }();
  return host;
}

namespace {

struct Preset {
  std::string_view name;
  const char* cpu;
  const char* features;    // beyond those of the CPU, as LLVM writes them
  std::string_view needs;  // the feature that a host must have
  int vector_bytes;
};

const Preset& find_preset(std::string_view name) {
  static constexpr Preset presets[] = {{"sse4.2", "x86-64-v2", "", "sse4.2", 16},
                                       {"avx2", "x86-64-v3", "", "avx2", 32},
                                       {"avx512", "x86-64-v4", "", "avx512vl", 64}};
  const auto* found = std::find_if(std::begin(presets), std::end(presets),
                                   [&](const Preset& preset) { return preset.name == name; });
  if (found != std::end(presets)) return *found;
  user_error("no preset of machine features is named '", name,
             "'; there are sse4.2, avx2 and avx512");
}

}  // namespace

Target preset_target(std::string_view preset) {
  return {llvm::sys::getProcessTriple(), find_preset(preset).cpu, find_preset(preset).features};
}

int vector_bytes_of(std::string_view preset) { return find_preset(preset).vector_bytes; }

bool host_has(std::string_view preset) {
  return llvm::sys::getHostCPUFeatures().lookup(find_preset(preset).needs);
}

Target host_target(std::string_view preset) {
  if (!host_has(preset)) user_error("this machine has no ", preset);
  return preset_target(preset);
}

Target gpu_target(std::string_view architecture) {
  // The oldest PTX version with all used features of each architecture, so that old drivers accept
  // the text.
  constexpr std::pair<std::string_view, const char*> known[] = {{"sm_80", "+ptx70"},
                                                                {"sm_90", "+ptx81"}};
  for (const auto& [name, features] : known) {
    if (name == architecture) return {"nvptx64-nvidia-cuda", std::string(name), features};
  }
  user_error("no code is generated for the GPU architecture '", architecture,
             "'; there are sm_80 and sm_90");
}

bool is_gpu(const Target& target) { return target.triple.starts_with("nvptx"); }

std::unique_ptr<Module::Parts> make_parts(const Target& target) {
  auto parts = std::make_unique<Module::Parts>();
  parts->target = target;
  parts->context = std::make_unique<llvm::LLVMContext>();
  parts->module = std::make_unique<llvm::Module>("tulle", *parts->context);
  const llvm::TargetMachine& machine = machine_for(target);
  parts->module->setTargetTriple(machine.getTargetTriple());
  parts->module->setDataLayout(machine.createDataLayout());
  return parts;
}

llvm::TargetMachine& machine_for(const Target& target) {
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  auto& machine =
      machines[concat(target.triple, " ", target.cpu, " ", target.features, target.light)];
  if (!machine) machine = make_machine(target);
  return *machine;
}

std::string print_llvm(const Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.parts().module->print(out, nullptr);
  return text;
}

std::string assembly(const Module& module) {
  const auto bytes = generate(module, llvm::CodeGenFileType::AssemblyFile);
  return std::string(bytes.begin(), bytes.end());
}

std::vector<char> object(const Module& module) {
  const auto bytes = generate(module, llvm::CodeGenFileType::ObjectFile);
  return std::vector<char>(bytes.begin(), bytes.end());
}

}  // namespace tulle::codegen
