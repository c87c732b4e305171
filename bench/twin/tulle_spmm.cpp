// Tulle's product of a CSR matrix and a dense one, with float32 values and int32 indices, through
// its C++ interface. A C entry point calls it like the twin: into an existing result and on
// OpenMP's threads.
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tulle/tulle.h>
#include <vector>

namespace {

// Provides the result array that every call fills.
class Existing final : public tulle::Memory {
 public:
  explicit Existing(float* place) : place_(place) {}
  Block allocate(tulle::DType, int64_t, bool) override { return {place_, nullptr}; }

 private:
  float* place_;
};

struct Product {
  std::shared_ptr<const tulle::Program> program;
  std::vector<tulle::TensorView> operands;
  Existing memory;
  tulle::RunOptions options;
  std::vector<tulle::ResultTensor> results;
};

void on_openmp(int64_t count, const std::function<void(int64_t, int64_t)>& body) {
#pragma omp parallel for num_threads(static_cast<int>(count)) schedule(static, 1)
  for (int64_t at = 0; at < count; ++at) body(at, at + 1);
}

thread_local std::string failure;

}  // namespace

#define ENTRY extern "C" __attribute__((visibility("default")))

// Makes a product for tulle_spmm_run, or null. The caller frees it. The arrays must outlive it.
ENTRY void* tulle_spmm_prepare(int64_t rows, int64_t columns, const int32_t* pos,
                               const int32_t* crd, const float* values, const float* b, float* c,
                               int width, int threads) {
  using tulle::DType;
  try {
    const int64_t entries = pos[rows];
    auto program = tulle::Program::from_notation(
        "C[i,k] = A[i,j] * B[j,k]", {{"A", "csr", DType::Float32, DType::Int32, 2, {}},
                                     {"B", "dense", DType::Float32, DType::Int32, 2, {}}});
    tulle::TensorView left{
        {rows, columns}, {{}, {{pos, rows + 1}, {crd, entries}}}, {values, entries}};
    tulle::TensorView right{{columns, width}, {{}, {}}, {b, columns * width}};
    tulle::RunOptions options;
    options.threads = threads;
    options.parallel_for = on_openmp;
    return new Product{
        std::move(program), {std::move(left), std::move(right)}, Existing(c), options, {}};
  } catch (const std::exception& error) {
    failure = error.what();
    return nullptr;
  }
}

// Returns 0, or 1 with the reason in tulle_spmm_failure().
ENTRY int tulle_spmm_run(void* prepared) {
  try {
    auto& product = *static_cast<Product*>(prepared);
    product.program->run_into(product.operands, product.memory, product.options, product.results);
    return 0;
  } catch (const std::exception& error) {
    failure = error.what();
    return 1;
  }
}

ENTRY void tulle_spmm_free(void* prepared) { delete static_cast<Product*>(prepared); }
ENTRY const char* tulle_spmm_failure() { return failure.c_str(); }
