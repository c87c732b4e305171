// Tulle from C++: a CSR matrix times a dense one, and a product of sparse matrices whose result is
// sparse.
//
// Built with the tests as example_spmm. By hand, after `make build`:
//   c++ -std=c++20 -Iinclude examples/spmm.cpp -Lbuild -ltulle -Wl,-rpath,build -o spmm && ./spmm
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tulle/tulle.h"

namespace {

// Allocates results: blocks of 64-byte aligned memory, freed with this object.
class Blocks final : public tulle::Memory {
 public:
  Block allocate(tulle::DType type, int64_t length, bool zeroed) override {
    const auto bytes = static_cast<size_t>(length * tulle::size_of(type)) / 64 * 64 + 64;
    blocks_.emplace_back(std::aligned_alloc(64, bytes), &std::free);
    void* data = blocks_.back().get();
    if (data && zeroed) std::memset(data, 0, bytes);
    return {data, nullptr};
  }

 private:
  std::vector<std::unique_ptr<void, decltype(&std::free)>> blocks_;
};

template <typename T>
tulle::ArraySpan span_of(const std::vector<T>& values) {
  return {values.data(), static_cast<int64_t>(values.size())};
}

//     1 . 2         1   0
// A = . . .     B = 0   0
//     . . 3       100 101
const std::vector<int32_t> kPositions = {0, 2, 2, 3};
const std::vector<int32_t> kCoordinates = {0, 2, 2};
const std::vector<float> kValues = {1, 2, 3};
const std::vector<float> kDense = {1, 0, 0, 0, 100, 101};

// A dense level stores nothing, a compressed one positions and coordinates.
tulle::TensorView sparse_matrix() {
  return {{3, 3}, {{}, {span_of(kPositions), span_of(kCoordinates)}}, span_of(kValues)};
}

tulle::TensorView dense_matrix() { return {{3, 2}, {{}, {}}, span_of(kDense)}; }

void multiply_dense() {
  const tulle::TensorSpec a{.name = "A", .format = "csr", .rank = 2};
  const tulle::TensorSpec b{.name = "B", .format = "dense", .rank = 2};
  tulle::validate(a, sparse_matrix());  // once, for structure from outside; run() does not check it
  const auto program = tulle::Program::from_notation("C[i,k] = A[i,j] * B[j,k]", {a, b});

  Blocks memory;
  const auto results =
      program->run({sparse_matrix(), dense_matrix()}, memory, tulle::RunOptions{.threads = 2});
  const tulle::ResultTensor& c = results[0];
  const auto* values = static_cast<const float*>(c.values.data);
  std::printf("C = A B\n");
  for (int64_t i = 0; i < c.sizes[0]; ++i) {
    for (int64_t k = 0; k < c.sizes[1]; ++k) std::printf("  %3g", values[i * c.sizes[1] + k]);
    std::printf("\n");
  }
}

void multiply_sparse() {
  const tulle::TensorSpec a{.name = "A", .format = "csr", .rank = 2};
  const auto program = tulle::Program::from_notation("S[i,j] = A[i,k] * A[k,j]", {a});

  Blocks memory;
  const auto results = program->run({sparse_matrix()}, memory);
  const tulle::ResultTensor& s = results[0];
  const auto* positions = static_cast<const int32_t*>(s.pos[1].data);
  const auto* coordinates = static_cast<const int32_t*>(s.crd[1].data);
  const auto* values = static_cast<const float*>(s.values.data);
  std::printf("S = A A, as %s\n", program->results()[0].format.c_str());
  for (int64_t i = 0; i < s.sizes[0]; ++i) {
    for (int32_t p = positions[i]; p < positions[i + 1]; ++p) {
      std::printf("  (%d,%d) %g", static_cast<int>(i), coordinates[p], values[p]);
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  try {
    multiply_dense();
    multiply_sparse();
    return 0;
  } catch (const tulle::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
