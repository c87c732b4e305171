// Random kernels with vector and unrolled loops: the passes must not change what they compute.
#include <random>

#include "fixture.h"
#include "loop/print.h"
#include "support/check.h"

namespace tulle::passes {
namespace {

constexpr int kSize = 200;

// Writes bodies of a loop over k that runs in lanes or copies. Buffers: A, B (f64, read), P (i64,
// read, below 8), y, z (f64, written). Scalars: n (the extent) and r (below 4). Outer variables: s,
// t (sums), m (a maximum).
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string kernel(bool constant_extent, int extent) {
    const std::string end = constant_extent ? std::to_string(extent) : "n";
    std::string text =
        "kernel k(A: f64*, B: f64*, P: i64*, y: mut f64*, z: mut f64*; n: i64, r: i64) {\n"
        "var s: f64 = 0.5\nvar t: f64 = 0.0\nvar m: f64 = A[0]\n";
    text += pick({"vector(4)", "vector(8)", "unrolled(2)", "unrolled(3)", ""}) + " for k in [0, " +
            end + ") {\n";
    if (number(2)) {
      text += pick({"let a: f64 = A[k + 3]\n", "let a: f64 = A[k]\n"}) +
              pick({"let b: f64 = A[k + 4]\n", "let b: f64 = A[k + 1]\n"});
      doubles_ = {"a", "b"};
    }
    const int count = 1 + number(4);
    for (int i = 0; i < count; ++i) text += statement(2);
    return text + "}\nz[0] = s\nz[1] = t\nz[2] = m\n}";
  }

 private:
  int number(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }
  std::string pick(const std::vector<std::string>& options) {
    return options[number(static_cast<int>(options.size()))];
  }
  std::string fresh() { return concat("v", names_++); }

  std::string index() {
    std::vector<std::string> options{"k",     "k + 3",    "2 * k",    "P[k]",  "r",
                                     "k + r", "P[k] + r", "P[r] + k", "31 - k"};
    for (const std::string& name : counters_) {
      for (const char* form : {" + k", " * 20 + k", " * 8 + k", ""}) options.push_back(name + form);
    }
    return pick(options);
  }

  // An index for a store, usually one that allows vectors.
  std::string place() { return number(4) ? "k" : index(); }

  std::string value(int depth) {
    if (depth == 0 || number(3) == 0) {
      std::vector<std::string> leaves{"A[" + index() + "]", "B[" + index() + "]", "1.5", "f64(k)",
                                      "y[" + place() + "]"};
      for (const std::string& name : doubles_) leaves.push_back(name);
      return pick(leaves);
    }
    const std::string a = value(depth - 1), b = value(depth - 1);
    switch (number(6)) {
      case 0:
        return "(" + a + " + " + b + ")";
      case 1:
        return "(" + a + " - " + b + ")";
      case 2:
        return "(" + a + " * 0.25)";
      case 3:
        return "max(" + a + ", " + b + ")";
      case 4:
        return "select(" + condition() + ", " + a + ", " + b + ")";
      default:
        return "(A[" + index() + "] * " + b + " * 0.125)";
    }
  }

  std::string condition() {
    return pick({"P[k] < 4", "A[k] < B[k]", "k < r", "P[k] > 1 && A[P[k] - 1] > 0.0", "r < 2",
                 "P[k] == r || B[k] > 1.0"});
  }

  std::string scope(int depth) {
    const std::vector<std::string> known = doubles_, open = variables_;
    std::string text;
    const int count = 1 + number(2);
    for (int i = 0; i < count; ++i) text += statement(depth);
    doubles_ = known;
    variables_ = open;
    return "{\n" + text + "}\n";
  }

  std::string statement(int depth) {
    switch (number(depth > 0 ? 9 : 6)) {
      case 0: {
        std::string text = "let " + fresh() + ": f64 = " + value(2) + "\n";
        doubles_.push_back(concat("v", names_ - 1));
        return text;
      }
      case 1: {
        std::string text = "var " + fresh() + ": f64 = " + value(1) + "\n";
        doubles_.push_back(concat("v", names_ - 1));
        variables_.push_back(doubles_.back());
        return text;
      }
      case 2:
        return variables_.empty() ? "s = s + " + value(1) + "\n"
                                  : pick(variables_) + " = " + value(2) + "\n";
      case 3:
        return pick({"y[", "z["}) + place() + "] = " + value(2) + "\n";
      case 4:
        return pick({"s = s + ", "s = s - "}) + value(2) + "\n";
      case 5:
        return number(2) ? "t = fma(" + value(1) + ", 0.5, t)\n" : "m = max(m, " + value(2) + ")\n";
      case 6:
        return "if (" + condition() + ") " + scope(depth - 1);
      case 7: {
        const std::string yes = scope(depth - 1);
        return "if (" + condition() + ") " + yes.substr(0, yes.size() - 1) + " else " +
               scope(depth - 1);
      }
      default: {
        const std::string name = fresh();
        counters_.push_back(name);
        const std::string body = scope(depth - 1);
        counters_.pop_back();
        return "for " + name + " in [0, " + pick({"r", "3", "P[r]"}) + ") " + body;
      }
    }
  }

  std::mt19937_64 random_;
  int names_ = 0;
  std::vector<std::string> doubles_, variables_, counters_;
};

// A random kernel and its arguments.
struct RandomCase {
  explicit RandomCase(int seed)
      : text(Writer(seed).kernel(seed % 3 == 0, seed % 21)),
        buffers{{"A", doubles(kSize, seed)},
                {"B", doubles(kSize, seed + 1)},
                {"P", indices(kSize, 8, seed)},
                {"y", doubles(kSize, seed + 2)},
                {"z", doubles(kSize, seed + 3)}},
        scalars{{"n", seed % 21}, {"r", seed % 4}} {}

  std::string text;
  loop::Arrays buffers;
  loop::Scalars scalars;
};

bool has_failed() {
  return testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure();
}

TEST(RandomKernels, ComputeTheSameAfterThePasses) {
  int vectorised = 0;
  for (int seed = 0; seed < 400; ++seed) {
    const auto [text, buffers, scalars] = RandomCase(seed);
    SCOPED_TRACE(concat("seed ", seed, "\n", text));
    for (const bool masks : {true, false}) {
      expect_same_results({"promote_accumulators", "unroll_loops", "simplify", "contract_fma",
                           "vectorize_loops", "carry_loads", "simplify", "advance_loads"},
                          text, buffers, scalars, 1e-9, masks);
    }
    for (const Backend backend : {Backend::Cpu, Backend::Gpu})
      expect_pipeline_keeps_results({.backend = backend}, text, buffers, scalars, 1e-9);
    if (has_failed()) return;
    vectorised += transform("vectorize_loops", text).has("ramp(");
  }
  EXPECT_GT(vectorised, 100);
}

TEST(RandomKernels, ComputeTheSameWithoutAnyOneOptionalPass) {
  int seed = 1000;
  for (const Pass& pass : pass_table()) {
    if (pass.is_required) continue;
    for (const int last = seed + 40; seed < last; ++seed) {
      const auto [text, buffers, scalars] = RandomCase(seed);
      SCOPED_TRACE(concat("without ", pass.name, ", seed ", seed, "\n", text));
      for (const Backend backend : {Backend::Cpu, Backend::Gpu}) {
        const PipelineOptions options{.backend = backend, .disabled = {std::string(pass.name)}};
        expect_pipeline_keeps_results(options, text, buffers, scalars, 1e-9);
      }
      if (has_failed()) return;
    }
  }
}

}  // namespace
}  // namespace tulle::passes
