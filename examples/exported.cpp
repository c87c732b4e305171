// Runs a graph layer that AOTInductor compiled, without Python:
//
//   exported libtulle_torch.so layer.pt2 operands.pt result.pt
//
// operands.pt holds a list of tensors as torch.save writes it: the arrays of the sparse operand,
// its values, then the dense operand. result.pt gets the list of results.
#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <vector>

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/serialization/pickle.h>

namespace {

std::vector<at::Tensor> read_tensors(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  const c10::IValue list = torch::jit::pickle_load(bytes);
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : list.toListRef()) tensors.push_back(value.toTensor());
  return tensors;
}

void write_tensors(const char* path, const std::vector<at::Tensor>& tensors) {
  const std::vector<char> bytes = torch::jit::pickle_save(
      c10::ivalue::Tuple::create(std::vector<c10::IValue>(tensors.begin(), tensors.end())));
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: exported LIBRARY PACKAGE OPERANDS RESULTS\n");
    return 2;
  }
  // Loading the library registers Tulle's operators.
  if (dlopen(arguments[1], RTLD_NOW) == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  torch::inductor::AOTIModelPackageLoader layer(arguments[2]);
  write_tensors(arguments[4], layer.run(read_tensors(arguments[3])));
  return 0;
}
