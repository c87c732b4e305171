// Kernels written as loop-IR text: the GPU computes what the interpreter computes.
#include <cmath>

#include <gtest/gtest.h>

#include "fixture.h"
#include "loop/parse.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::gpu {
namespace {

using loop::Arrays;
using loop::to_array;

// Runs statements in a thread loop of 128 in 3 blocks, with arrays of every type.
void expect_threads(const std::string& body, double tolerance = 0) {
  const std::string text = concat(
      "host h(A: f32*, B: f64*, I: i32*, J: i64*, F: bool*, C: mut f32*, D: mut f64*, P: mut i32*, "
      "Q: mut i64*, G: mut bool*; n: i64, s: f32, d: f64, m: i32) -> () { launch k }\n"
      "kernel k(A: f32*, B: f64*, I: i32*, J: i64*, F: bool*, C: mut f32*, D: mut f64*, P: mut "
      "i32*, Q: mut i64*, G: mut bool*; n: i64, s: f32, d: f64, m: i32) {\n"
      "block for b in [0, n) { thread for t in [0, 128) { let i: i64 = b * 128 + t\n",
      body, "} } }");
  const int64_t size = 2048;
  Arrays arrays{{"A", numbers(DType::Float32, size, 1)}, {"B", numbers(DType::Float64, size, 2)},
                {"I", numbers(DType::Int32, size, 3)},   {"J", numbers(DType::Int64, size, 4)},
                {"F", numbers(DType::Bool, size, 5)},    {"C", numbers(DType::Float32, size, 6)},
                {"D", numbers(DType::Float64, size, 7)}, {"P", numbers(DType::Int32, size, 8)},
                {"Q", numbers(DType::Int64, size, 9)},   {"G", numbers(DType::Bool, size, 10)}};
  expect_same(text, arrays, {{"n", 3}, {"s", 1.5}, {"d", 2.25}, {"m", 3}}, tolerance);
}

TEST(Kernels, Arithmetic) {
  expect_threads(
      "C[i] = A[i] / s + floor(A[i] * 0.3f) - round(s * A[i]) + sqrt(abs(A[i]))\n"
      "D[i] = sqrt(abs(B[i] / d)) + max(B[i], d) - min(B[i], 2.0)\n"
      "P[i] = max(I[i], m) / (m - 3:i32) + I[i] % m + I[i] / m\n"
      "Q[i] = (J[i] << 3) + (J[i] >> 1) + J[i] / n - J[i] % 4\n"
      "G[i] = (F[i] && A[i] < s) || B[i] > d",
      1e-6);
}

TEST(Kernels, Vectors) {
  expect_threads(
      "C[ramp(i * 4, 1, 4)] = A[ramp(i * 4, 1, 4)] + broadcast(s, 4)\n"
      "D[ramp(i * 2, 1, 2)] = B[ramp(i * 2 + 1, 1, 2)]\n"
      "nontemporal P[ramp(i * 4, 1, 4)] = I[ramp(i * 3, 1, 4)]\n"
      "Q[i] = vector_reduce(add, J[ramp(i, 2, 4)])\n"
      "nontemporal G[i] = F[i + 1]");
}

// Widens every half, and narrows floats near halves and between them.
TEST(Kernels, Halves) {
  for (const DType type : {DType::Float16, DType::BFloat16}) {
    const std::string half(name_of(type));
    const std::string text =
        concat("host h(H: ", half, "*, F: mut f32*, G: mut ", half, "*, V: mut ", half,
               "*; n: i64) -> () { launch k }\nkernel k(H: ", half, "*, F: mut f32*, G: mut ", half,
               "*, V: mut ", half, "*; n: i64) { block for b in [0, n) { thread for t in [0, 128) ",
               "{ let i: i64 = b * 128 + t\n F[i] = f32(H[i])\n G[i] = ", half,
               "(f32(H[i]) * 1.0007f)\n if (i % 8 == 0) { V[ramp(i, 1, 8)] = ", half,
               "(f32(H[ramp(i, 1, 8)]) * broadcast(0.6251f, 8)) } } } }");
    std::vector<uint16_t> bits;
    for (int value = 0; value < 1 << 16; ++value) {
      const auto word = static_cast<uint16_t>(value);
      bits.push_back(std::isnan(widen_half(type, word)) ? uint16_t{0} : word);
    }
    expect_same(text,
                {{"H", to_array(type, bits)},
                 {"F", to_array(DType::Float32, std::vector<float>(bits.size()))},
                 {"G", to_array(type, std::vector<uint16_t>(bits.size()))},
                 {"V", to_array(type, std::vector<uint16_t>(bits.size()))}},
                {{"n", static_cast<int64_t>(bits.size()) / 128}});
  }
}

TEST(Kernels, Shuffles) {
  for (const char* mode : {"index", "xor", "up", "down"}) {
    for (const char* width : {"2", "8", "32"}) {
      const auto shuffled = [&](const char* value, const char* lane) {
        return concat("lane_shuffle(", mode, ", ", value, ", ", lane, ", ", width, ")");
      };
      expect_threads(concat("C[i] = ", shuffled("A[i]", "1"), "\nD[i] = ", shuffled("B[i]", "n"),
                            "\nQ[i] = ", shuffled("J[i]", "m"), "\nP[i] = ",
                            shuffled("I[i]", "J[i]"), "\nG[i] = ", shuffled("F[i]", "t")));
    }
  }
}

TEST(Kernels, LaneReductions) {
  for (const char* op : {"add", "mul", "min", "max"}) {
    expect_threads(concat("C[i] = lane_reduce(", op, ", A[i], 8)\nD[i] = lane_reduce(", op,
                          ", B[i], 4)\nP[i] = lane_reduce(", op, ", I[i], 16)\nQ[i] = lane_reduce(",
                          op, ", J[i], 32)"));
  }
  // Not all groups of the warp arrive.
  expect_threads("if (I[t / 8] > 0:i32) { C[i] = lane_reduce(add, A[i], 8) }");
}

TEST(Kernels, Atomics) {
  for (const char* op : {"add", "min", "max"}) {
    expect_threads(concat("atomic_", op, "(C[i % 7], A[i])\natomic_", op,
                          "(D[i % 5], B[i])\natomic_", op, "(P[i % 3], I[i])\natomic_", op,
                          "(Q[i % 9], J[i])"));
  }
  expect_threads(
      "atomic_or(G[i % 4], F[i])\natomic_or(P[i % 3], I[i])\natomic_and(Q[i % 9], J[i])");
  expect_threads("atomic_mul(D[i % 64], select(B[i] > 0.0, 2.0, 0.5))");
}

TEST(Kernels, LocalArraysAndLoops) {
  expect_threads(R"(w = alloc zeroed local f32[8]
for k in [0, 6) { w[k] = A[i + k] }
v = alloc local i32[64]
for k in [0, 64) { v[k] = I[k + i] * i32(k) }
var sum: f32 = 0.0f
var p: i64 = i
while (p < 500 && I[p] != m) {
  sum = sum + w[p % 8]
  p = p + 1 + i64(abs(v[p % 64])) }
C[i] = sum
P[i] = v[i % 64])");
}

TEST(Kernels, SharedMemory) {
  // the second exceeds the default and is requested at the launch
  for (const int64_t size : {100, 20000}) {
    const std::string text = concat(R"(
host h(A: f32*, C: mut f32*; n: i64) -> () { launch k }
kernel k(A: f32*, C: mut f32*; n: i64) {
  block for b in [0, n) {
    w = alloc zeroed shared f32[)",
                                    size, R"(]
    for round in [0, 2) {
      thread for t in [0, 96) { w[t] = w[t] + A[b * 96 + t] }
      barrier(block)
      warp for v in [0, 2) {
        lane for l in [0, 16) { C[b * 64 + round * 32 + v * 16 + l] = w[95 - v * 16 - l] + w[99] }
      }
      barrier(block)
    }
  }
})");
    expect_same(text,
                {{"A", numbers(DType::Float32, 960, 1)}, {"C", numbers(DType::Float32, 640, 2)}},
                {{"n", 10}});
  }
}

TEST(Kernels, Scans) {
  const char* text = R"(host sizes(P: i32*; n: i64) -> (S, T) {
  S = alloc i32[n + 1]
  launch copy
  scan S[0, n)
  let total: i32 = read S[n]
  T = alloc zeroed i64[i64(total) + 1]
}
kernel copy(P: i32*, S: mut i32*; n: i64) {
  block for b in [0, (n + 127) / 128) {
    thread for t in [0, 128) {
      let i: i64 = b * 128 + t
      if (i < n) { S[i] = abs(P[i]) }
    }
  }
})";
  for (const int64_t n : {0, 1, 33, 2048, 2049, 100000}) {
    expect_same(text, {{"P", numbers(DType::Int32, n, 3)}}, {{"n", n}});
  }
  // More tiles than one block scans at a time, against a plain loop.
  const int64_t n = 3000000;
  const loop::Array counts = numbers(DType::Int32, n, 4);
  const Arrays found = run_on_gpu(loop::parse_host_program(text), {{"P", counts}}, {{"n", n}});
  int32_t sum = 0;
  std::vector<int32_t> expected;
  for (const int32_t count : loop::to_vector<int32_t>(counts)) {
    expected.push_back(sum);
    sum += std::abs(count);
  }
  expected.push_back(sum);
  EXPECT_EQ(loop::to_vector<int32_t>(found.at("S")), expected);
}

struct Csr {
  std::vector<int32_t> pos{0}, crd, row;
};

Csr random_csr(int64_t rows, int64_t columns, uint32_t seed) {
  Csr a;
  const auto lengths = loop::to_vector<int32_t>(numbers(DType::Int32, rows, seed));
  for (int64_t i = 0; i < rows; ++i) {
    for (int32_t k = 0; k < lengths[static_cast<size_t>(i)] * 5; ++k) {
      a.crd.push_back(static_cast<int32_t>((i * 31 + k * 7) % columns));
      a.row.push_back(static_cast<int32_t>(i));
    }
    a.pos.push_back(static_cast<int32_t>(a.crd.size()));
  }
  return a;
}

TEST(Kernels, SpmmWithAWarpForEachRow) {
  const Csr a = random_csr(100, 90, 5);
  const auto nnz = static_cast<int64_t>(a.crd.size());
  expect_same(R"(
host spmm(A_pos: i32*, A_crd: i32*, A: f32*, B: f32*; n_i: i64, n_k: i64) -> (C) {
  let blocks: i64 = (n_i + 3) / 4
  C = alloc f32[n_i * n_k]
  launch rows
}

kernel rows(A_pos: i32*, A_crd: i32*, A: f32*, B: f32*, C: mut f32*; n_i: i64, n_k: i64, blocks: i64) {
  block for b in [0, blocks) {
    warp for w in [0, 4) {
      let i: i64 = b * 4 + w
      if (i < n_i) {
        let begin: i64 = i64(A_pos[i])
        let end: i64 = i64(A_pos[i + 1])
        for k0 in [0, n_k) by 32 {
          lane for l in [0, 32) {
            let k: i64 = k0 + l
            var sum: f32 = 0.0f
            for p0 in [begin, end) by 32 {
              let mine: bool = p0 + l < end
              let own_crd: i32 = A_crd[p0 + l if mine]
              let own_value: f32 = A[p0 + l if mine]
              for q in [0, min(32, end - p0)) {
                let j: i64 = i64(lane_shuffle(index, own_crd, q, 32))
                let a: f32 = lane_shuffle(index, own_value, q, 32)
                sum = fma(a, B[j * n_k + k if k < n_k], sum)
              }
            }
            nontemporal C[i * n_k + k if k < n_k] = sum
          }
        }
      }
    }
  }
})",
              {{"A_pos", to_array(DType::Int32, a.pos)},
               {"A_crd", to_array(DType::Int32, a.crd)},
               {"A", numbers(DType::Float32, nnz, 6)},
               {"B", numbers(DType::Float32, 90 * 37, 7)}},
              {{"n_i", 100}, {"n_k", 37}});
}

TEST(Kernels, SddmmWithLaneReductions) {
  const Csr a = random_csr(60, 50, 8);
  const auto nnz = static_cast<int64_t>(a.crd.size());
  expect_same(R"(
host sddmm(A_row: i32*, A_crd: i32*, A: f32*, Q: f32*, K: f32*; nnz: i64, n_d: i64) -> (S) {
  let blocks: i64 = (nnz + 15) / 16
  S = alloc f32[nnz]
  launch entries
}

kernel entries(A_row: i32*, A_crd: i32*, A: f32*, Q: f32*, K: f32*, S: mut f32*; nnz: i64, n_d: i64, blocks: i64) {
  block for b in [0, blocks) {
    thread for t in [0, 128) {
      let group: i64 = t / 8
      let l: i64 = t % 8
      let p: i64 = b * 16 + group
      if (p < nnz) {
        let i: i64 = i64(A_row[p])
        let j: i64 = i64(A_crd[p])
        var dot: f32 = 0.0f
        for d in [l, n_d) by 8 {
          dot = dot + Q[i * n_d + d] * K[j * n_d + d]
        }
        let total: f32 = lane_reduce(add, dot, 8)
        if (l == 0) {
          S[p] = A[p] * total
        }
      }
    }
  }
})",
              {{"A_row", to_array(DType::Int32, a.row)},
               {"A_crd", to_array(DType::Int32, a.crd)},
               {"A", numbers(DType::Float32, nnz, 9)},
               {"Q", numbers(DType::Float32, 60 * 19, 10)},
               {"K", numbers(DType::Float32, 50 * 19, 11)}},
              {{"nnz", nnz}, {"n_d", 19}});
}

}  // namespace
}  // namespace tulle::gpu
