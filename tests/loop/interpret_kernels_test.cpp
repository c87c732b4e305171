// Hand-written sparse kernels as loop-IR text, interpreted and compared with plain C++ loops.
#include <random>

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/parse.h"

namespace tulle::loop {
namespace {

struct Csr {
  int64_t rows, columns;
  std::vector<int32_t> pos{0}, crd;
  std::vector<float> values;
};

// A random matrix with about this density and some empty rows. The values are small integers, so
// that sums are exact.
Csr random_csr(int64_t rows, int64_t columns, double density, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<> chance(0, 1);
  Csr a{rows, columns};
  for (int64_t i = 0; i < rows; ++i) {
    const double row_density = i % 5 == 3 ? 0 : density;
    for (int64_t j = 0; j < columns; ++j) {
      if (chance(random) >= row_density) continue;
      a.crd.push_back(static_cast<int32_t>(j));
      a.values.push_back(static_cast<float>(random() % 9) - 4);
    }
    a.pos.push_back(static_cast<int32_t>(a.crd.size()));
  }
  return a;
}

std::vector<float> random_dense(int64_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random() % 9) - 4;
  return values;
}

std::vector<float> spmm(const Csr& a, const std::vector<float>& b, int64_t width) {
  std::vector<float> c(a.rows * width);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      for (int64_t k = 0; k < width; ++k) c[i * width + k] += a.values[p] * b[a.crd[p] * width + k];
    }
  }
  return c;
}

Arrays csr_arrays(const Csr& a) {
  return {{"A_pos", to_array(DType::Int32, a.pos)},
          {"A_crd", to_array(DType::Int32, a.crd)},
          {"A", to_array(DType::Float32, a.values)}};
}

constexpr const char* kSpmm = R"(
host spmm(A_pos: i32*, A_crd: i32*, A: f32*, B: f32*; n_i: i64, n_k: i64) -> (C) {
  C = alloc f32[n_i * n_k]
  launch rows
}

kernel rows(A_pos: i32*, A_crd: i32*, A: f32*, B: f32*, C: mut f32*; n_i: i64, n_k: i64) {
  parallel for i in [0, n_i) {
    let begin: i64 = i64(A_pos[i])
    let end: i64 = i64(A_pos[i + 1])
    vector(8) for k in [0, n_k) {
      C[i * n_k + k] = 0.0f
    }
    for p in [begin, end) {
      let row: i64 = i64(A_crd[p]) * n_k
      prefetch(B[i64(A_crd[min(p + 4, end - 1)]) * n_k], 2)
      vector(8) for k in [0, n_k) {
        C[i * n_k + k] = fma(A[p], B[row + k], C[i * n_k + k])
      }
    }
  }
})";

TEST(InterpretKernels, SpmmOnCpu) {
  const Csr a = random_csr(23, 17, 0.3, 1);
  const std::vector<float> b = random_dense(17 * 5, 2);
  Arrays arrays = csr_arrays(a);
  arrays.emplace("B", to_array(DType::Float32, b));
  const Arrays results = interpret(parse_host_program(kSpmm), arrays, {{"n_i", 23}, {"n_k", 5}});
  EXPECT_EQ(to_vector<float>(results.at("C")), spmm(a, b, 5));
}

// Rows in vectors of eight with a masked tail.
constexpr const char* kSpmmVectors = R"(
host spmm(A_pos: i32*, A_crd: i32*, A: f32*, B: f32*; n_i: i64, n_k: i64) -> (C) {
  C = alloc f32[n_i * n_k]
  launch rows
}

kernel rows(A_pos: i32*, A_crd: i32*, A: f32*, B: f32*, C: mut f32*; n_i: i64, n_k: i64) {
  parallel for i in [0, n_i) {
    for k in [0, n_k) by 8 {
      let inside: boolx8 = ramp(k, 1, 8) < broadcast(n_k, 8)
      var sum: f32x8 = broadcast(0.0f, 8)
      for p in [i64(A_pos[i]), i64(A_pos[i + 1])) {
        let b: f32x8 = B[ramp(i64(A_crd[p]) * n_k + k, 1, 8) if inside]
        sum = fma(broadcast(A[p], 8), b, sum)
      }
      nontemporal C[ramp(i * n_k + k, 1, 8) if inside] = sum
    }
  }
})";

TEST(InterpretKernels, SpmmWithVectors) {
  const Csr a = random_csr(11, 13, 0.4, 3);
  const std::vector<float> b = random_dense(13 * 21, 4);
  Arrays arrays = csr_arrays(a);
  arrays.emplace("B", to_array(DType::Float32, b));
  const Arrays results =
      interpret(parse_host_program(kSpmmVectors), arrays, {{"n_i", 11}, {"n_k", 21}});
  EXPECT_EQ(to_vector<float>(results.at("C")), spmm(a, b, 21));
}

// A warp per row, lanes over the columns of B. Shuffles pass the row's coordinates between lanes.
constexpr const char* kSpmmWarps = R"(
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
            C[i * n_k + k if k < n_k] = sum
          }
        }
      }
    }
  }
})";

TEST(InterpretKernels, SpmmWithAWarpForEachRow) {
  const Csr a = random_csr(10, 90, 0.5, 5);
  const std::vector<float> b = random_dense(90 * 37, 6);
  Arrays arrays = csr_arrays(a);
  arrays.emplace("B", to_array(DType::Float32, b));
  const Arrays results =
      interpret(parse_host_program(kSpmmWarps), arrays, {{"n_i", 10}, {"n_k", 37}});
  EXPECT_EQ(to_vector<float>(results.at("C")), spmm(a, b, 37));
}

// Eight lanes per entry. Their partial dot products are reduced over the group.
constexpr const char* kSddmm = R"(
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
})";

TEST(InterpretKernels, SddmmWithLaneReductions) {
  const Csr a = random_csr(9, 12, 0.4, 7);
  const int64_t width = 19;
  const auto nnz = static_cast<int64_t>(a.crd.size());
  const std::vector<float> q = random_dense(9 * width, 8), k = random_dense(12 * width, 9);
  std::vector<int32_t> row;
  std::vector<float> expected;
  for (int32_t i = 0; i < 9; ++i) {
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      float dot = 0;
      for (int64_t d = 0; d < width; ++d) dot += q[i * width + d] * k[a.crd[p] * width + d];
      row.push_back(i);
      expected.push_back(a.values[p] * dot);
    }
  }
  const Arrays results = interpret(parse_host_program(kSddmm),
                                   {{"A_row", to_array(DType::Int32, row)},
                                    {"A_crd", to_array(DType::Int32, a.crd)},
                                    {"A", to_array(DType::Float32, a.values)},
                                    {"Q", to_array(DType::Float32, q)},
                                    {"K", to_array(DType::Float32, k)}},
                                   {{"nnz", nnz}, {"n_d", width}});
  EXPECT_EQ(to_vector<float>(results.at("S")), expected);
}

// A sparse result: count, scan, fill. Keeps the entries of A whose value is positive.
constexpr const char* kFilter = R"(
host positive(A_pos: i32*, A_crd: i32*, A: f32*; n_i: i64) -> (C_pos, C_crd, C) {
  C_pos = alloc i32[n_i + 1]
  launch count
  scan C_pos[0, n_i)
  let nnz: i32 = read C_pos[n_i]
  C_crd = alloc i32[i64(nnz)]
  C = alloc f32[i64(nnz)]
  launch fill
}

kernel count(A_pos: i32*, A: f32*, C_pos: mut i32*; n_i: i64) {
  parallel for i in [0, n_i) {
    var number: i32 = 0:i32
    for p in [i64(A_pos[i]), i64(A_pos[i + 1])) {
      if (A[p] > 0.0f) {
        number = number + 1:i32
      }
    }
    C_pos[i] = number
  }
}

kernel fill(A_pos: i32*, A_crd: i32*, A: f32*, C_pos: i32*, C_crd: mut i32*, C: mut f32*; n_i: i64) {
  parallel for i in [0, n_i) {
    var next: i64 = i64(C_pos[i])
    var p: i64 = i64(A_pos[i])
    while (p < i64(A_pos[i + 1])) {
      if (A[p] > 0.0f) {
        C_crd[next] = A_crd[p]
        C[next] = A[p]
        next = next + 1
      }
      p = p + 1
    }
  }
})";

TEST(InterpretKernels, SparseResultByCountScanFill) {
  const Csr a = random_csr(14, 20, 0.3, 10);
  Csr expected{14, 20};
  for (int64_t i = 0; i < 14; ++i) {
    for (int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      if (a.values[p] <= 0) continue;
      expected.crd.push_back(a.crd[p]);
      expected.values.push_back(a.values[p]);
    }
    expected.pos.push_back(static_cast<int32_t>(expected.crd.size()));
  }
  const Arrays results = interpret(parse_host_program(kFilter), csr_arrays(a), {{"n_i", 14}});
  EXPECT_EQ(to_vector<int32_t>(results.at("C_pos")), expected.pos);
  EXPECT_EQ(to_vector<int32_t>(results.at("C_crd")), expected.crd);
  EXPECT_EQ(to_vector<float>(results.at("C")), expected.values);
}

}  // namespace
}  // namespace tulle::loop
