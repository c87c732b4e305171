// CSR times dense, written by hand as loop IR: correct on every instruction set, with the expected
// machine code.
#include <random>
#include <regex>
#include <thread>

#include <gtest/gtest.h>

#include "codegen/fixture.h"

namespace tulle::codegen {
namespace {

using namespace loop;  // NOLINT: the node makers are the language of these tests

struct Csr {
  int64_t rows, columns;
  std::vector<int32_t> pos, crd;
  std::vector<float> values;
};

Csr random_csr(int64_t rows, int64_t columns, int row_length) {
  std::mt19937 random(7);
  Csr matrix{rows, columns, {0}, {}, {}};
  for (int64_t i = 0; i < rows; ++i) {
    const auto length = random() % static_cast<unsigned>(2 * row_length);
    for (unsigned p = 0; p < length; ++p) {
      matrix.crd.push_back(static_cast<int32_t>(random() % static_cast<unsigned>(columns)));
      matrix.values.push_back(static_cast<float>(static_cast<int>(random() % 17) - 8));
    }
    matrix.pos.push_back(static_cast<int32_t>(matrix.crd.size()));
  }
  return matrix;
}

std::vector<float> random_dense(int64_t size) {
  std::mt19937 random(11);
  std::vector<float> dense(static_cast<size_t>(size));
  for (float& x : dense) x = static_cast<float>(static_cast<int>(random() % 17) - 8);
  return dense;
}

// Small integers: sums are exact in any order.
std::vector<float> plain_spmm(const Csr& a, const std::vector<float>& b, int64_t width) {
  std::vector<float> c(static_cast<size_t>(a.rows * width));
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      for (int64_t k = 0; k < width; ++k) c[i * width + k] += a.values[p] * b[a.crd[p] * width + k];
    }
  }
  return c;
}

const Buffer pos = make_buffer("A_pos", DType::Int32);
const Buffer crd = make_buffer("A_crd", DType::Int32);
const Buffer values = make_buffer("A_values", DType::Float32);
const Buffer dense = make_buffer("B", DType::Float32);
const Buffer result = make_buffer("C", DType::Float32);
const Expr i = Var::make("i"), p = Var::make("p"), k = Var::make("k"), j = Var::make("j"),
           n = Var::make("n");

Expr index_at(const Buffer& buffer, const Expr& at) {
  return Cast::make(DType::Int64, Load::make(buffer, at));
}

Kernel spmm_kernel(std::vector<Stmt> row) {
  Stmt rows = For::make("i", IntConst::make(0), Var::make("rows"), Block::make(std::move(row)),
                        ForKind::Parallel);
  Kernel kernel =
      make_kernel({{pos, false}, {crd, false}, {values, false}, {dense, false}, {result, true}},
                  {"rows", "n"}, {rows});
  kernel.name = "spmm";
  return kernel;
}

Kernel scalar_spmm() {
  const Expr at = i * n + k;
  Stmt add = Store::make(
      result, at,
      Call::make(Function::Fma,
                 {Load::make(values, p), Load::make(dense, j * n + k), Load::make(result, at)}));
  Stmt columns = For::make("k", IntConst::make(0), n, add);
  return spmm_kernel({For::make("p", index_at(pos, i), index_at(pos, i + 1),
                                Block::make({Let::make("j", index_at(crd, p)), columns}))});
}

// `vectors` accumulators of 16 lanes hold a row of C; the last is masked if `masked`.
Kernel vector_spmm(int vectors, bool masked, bool nontemporal = false) {
  const Buffer sums = make_buffer("sums", DType::Float32, Space::Local);
  const auto lanes = [](const Expr& base) { return Ramp::make(base, IntConst::make(1), 16); };
  std::vector<Stmt> inner{Let::make("j", index_at(crd, p)),
                          Let::make("a", Broadcast::make(Load::make(values, p), 16))};
  std::vector<Stmt> last;
  for (int v = 0; v < vectors; ++v) {
    const Expr column = IntConst::make(16 * v);
    Expr predicate;
    if (masked && v == vectors - 1) predicate = lanes(column) < Broadcast::make(n, 16);
    const Expr b = Load::make(dense, lanes(j * n + column), predicate);
    const Expr sum = Load::make(sums, lanes(column));
    inner.push_back(
        Store::make(sums, lanes(column),
                    Call::make(Function::Fma, {Var::make("a", {DType::Float32, 16}), b, sum})));
    last.push_back(Store::make(result, lanes(i * n + column), sum, predicate, nontemporal));
  }
  Stmt body = For::make("p", index_at(pos, i), index_at(pos, i + 1), Block::make(inner));
  return spmm_kernel(
      {Allocate::make(sums, IntConst::make(16 * vectors), true), body, Block::make(last)});
}

void expect_right(const Kernel& kernel, int64_t width, const Target& target) {
  Csr a = random_csr(120, 90, 6);
  std::vector<float> b = random_dense(a.columns * width);
  std::vector<float> c(static_cast<size_t>(a.rows * width + 64), 0.0F);
  for (size_t x = static_cast<size_t>(a.rows * width); x < c.size(); ++x) c[x] = 77;
  const CompiledKernel compiled(kernel, target);
  const std::vector<void*> buffers{a.pos.data(), a.crd.data(), a.values.data(), b.data(), c.data()};
  EXPECT_EQ(compiled.run(buffers, {a.rows, width}, 0, 50), kKernelOk);
  EXPECT_EQ(compiled.run(buffers, {a.rows, width}, 50, a.rows), kKernelOk);
  std::vector<float> expected = plain_spmm(a, b, width);
  expected.resize(c.size(), 77);
  EXPECT_EQ(c, expected);
}

class SpmmOn : public OnPreset {};

TEST_P(SpmmOn, Scalar) { expect_right(scalar_spmm(), 19, host_target(GetParam())); }
TEST_P(SpmmOn, FullVectors) { expect_right(vector_spmm(4, false), 64, host_target(GetParam())); }
TEST_P(SpmmOn, MaskedTail) { expect_right(vector_spmm(3, true), 37, host_target(GetParam())); }
TEST_P(SpmmOn, Nontemporal) {
  expect_right(vector_spmm(2, false, true), 32, host_target(GetParam()));
  expect_right(vector_spmm(1, false, true), 16, host_target(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Presets, SpmmOn, testing::Values("sse4.2", "avx2", "avx512"));

// The text between the first label whose block ends in a backward jump around a vfmadd, and that
// jump.
std::string innermost_loop(const std::string& assembly) {
  static const std::regex label(R"(^(\.LBB\d+_\d+):)"), jump(R"(^\s+j\w+\s+(\.LBB\d+_\d+))");
  std::string name, text;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, label)) {
      name = match[1];
      text.clear();
    }
    text += line + "\n";
    const bool is_jump = std::regex_search(line, match, jump);
    if (is_jump && match[1] == name && text.find("vfmadd") != std::string::npos) return text;
  }
  return {};
}

TEST(SpmmAssembly, InnerLoopIsFmaOnRegisters) {
  for (const int vectors : {1, 4, 16}) {
    const CompiledKernel compiled(vector_spmm(vectors, false), preset_target("avx512"));
    const std::string loop = innermost_loop(compiled.assembly_text());
    const std::regex fma(R"(vfmadd\d+ps.*%zmm)"), stack(R"(\(%r[sb]p)"),
        vector_store(R"(vmov\w+\s+%zmm\d+,\s*[^%]*\()");
    const auto count = std::distance(std::sregex_iterator(loop.begin(), loop.end(), fma), {});
    EXPECT_EQ(count, vectors) << compiled.assembly_text();
    EXPECT_FALSE(std::regex_search(loop, stack)) << loop;
    EXPECT_FALSE(std::regex_search(loop, vector_store)) << loop;
  }
}

TEST(SpmmAssembly, NontemporalStores) {
  const CompiledKernel compiled(vector_spmm(2, false, true), preset_target("avx512"));
  EXPECT_NE(compiled.assembly_text().find("vmovntps\t%zmm"), std::string::npos)
      << compiled.assembly_text();
  EXPECT_NE(compiled.assembly_text().find("sfence"), std::string::npos);
}

// Disk caches return code that another process compiled.
TEST(SpmmCode, IsTheSameEveryTime) {
  const auto compile = [] {
    Module module = emit_cpu({vector_spmm(4, true)}, host_target());
    optimise(module);
    return object(module);
  };
  const std::vector<char> first = compile();
  EXPECT_EQ(compile(), first);
  std::vector<char> elsewhere;
  std::thread([&] { elsewhere = compile(); }).join();
  EXPECT_EQ(elsewhere, first);
}

}  // namespace
}  // namespace tulle::codegen
