// Kernels for the GPU: the PTX of each construct, which ptxas assembles.
#include <gtest/gtest.h>

#include "codegen/assemble.h"
#include "codegen/emit.h"
#include "loop/parse.h"
#include "loop/verify.h"
#include "support/check.h"

namespace tulle::codegen {
namespace {

// Compiles and assembles for both architectures and returns the second text.
std::string ptx_of(const std::string& text) {
  const loop::Kernel kernel = loop::parse_kernel(text);
  loop::verify(kernel);
  std::string result;
  for (const char* architecture : {"sm_80", "sm_90"}) {
    Module module = emit_gpu({kernel}, gpu_target(architecture));
    optimise(module);
    result = ptx(module);
    EXPECT_EQ(complaints_of_ptxas(result, architecture), "") << result;
  }
  return result;
}

// The PTX of statements in a thread loop of 128 iterations, with buffers of every type.
std::string threads(const std::string& body) {
  return ptx_of(
      concat("kernel kernel(A: f32*, B: f64*, I: i32*, J: i64*, F: bool*, C: mut f32*, D: mut "
             "f64*, P: mut "
             "i32*, Q: mut i64*, G: mut bool*; n: i64, s: f32, d: f64, m: i32, flag: bool) {\n"
             "block for b in [0, n) { thread for t in [0, 128) { let i: i64 = b * 128 + t\n",
             body, "} } }"));
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
#define EXPECT_LACKS(text, part) EXPECT_EQ((text).find(part), std::string::npos) << (text)

TEST(Ptx, KernelsAreEntriesOfAFixedBlockSize) {
  const std::string text = threads("C[i] = s");
  EXPECT_HAS(text, ".visible .entry kernel(");
  EXPECT_HAS(text, ".reqntid 128");
  EXPECT_LACKS(text, ".maxntid");
  EXPECT_HAS(text, "%ctaid.x");
  EXPECT_HAS(text, "%tid.x");
  EXPECT_HAS(text, ".target sm_90");
}

TEST(Ptx, OperandsAreReadThroughTheReadOnlyCache) {
  const std::string text = threads("C[i] = fma(A[i], s, C[i])");
  EXPECT_HAS(text, "ld.global.nc.");
  EXPECT_HAS(text, "fma.rn.f32");
}

TEST(Ptx, AlignedVectorsAreAccessedWhole) {
  const std::string text =
      threads("C[ramp(i * 4, 1, 4)] = A[ramp(i * 16 + 4, 1, 4)] + A[ramp(i * 4, 1, 4)]");
  EXPECT_HAS(text, "ld.global.nc.v4.");
  EXPECT_HAS(text, "st.global.v4.");
  EXPECT_HAS(threads("D[ramp(i * 2, 1, 2)] = B[ramp(i * 2, 1, 2)]"), "st.global.v2.");
}

TEST(Ptx, OtherVectorsAreAccessedPieceByPiece) {
  const std::string text = threads("C[ramp(i * n, 1, 4)] = A[ramp(i * 4 + 1, 1, 4)]");
  EXPECT_LACKS(text, ".v4.");
  EXPECT_LACKS(text, ".v2.");
  threads("C[ramp(i, n, 4)] = A[ramp(i, 2, 4) if ramp(i, 1, 4) < broadcast(n, 4)]");
  threads("C[ramp(i * 4, 1, 4) if ramp(i, 1, 4) < broadcast(n, 4)] = broadcast(s, 4)");
  threads("C[i] = vector_reduce(add, A[ramp(i, 1, 8)])");
}

TEST(Ptx, StreamingStores) {
  EXPECT_HAS(threads("nontemporal C[i] = s"), "st.global.cs.");
  const std::string text = threads("nontemporal C[ramp(i * 4, 1, 4)] = A[ramp(i * 4, 1, 4)]");
  EXPECT_HAS(text, "st.global.cs.v4.");
  threads("nontemporal C[ramp(i * n, 1, 4)] = A[ramp(i * n, 1, 4)]");
  threads(
      "nontemporal D[i] = d\n nontemporal Q[i] = i\n nontemporal P[i] = m\n nontemporal G[i] = "
      "flag");
}

TEST(Ptx, Arithmetic) {
  const std::string text = threads(
      "C[i] = sqrt(abs(A[i] / s)) + floor(s) - round(s) * trunc(s) + ceil(s)\n"
      "D[i] = sqrt(B[i] / d) + max(B[i], d) - min(d, 2.0)\n"
      "C[i + 1] = max(A[i], s) - min(A[i], 3.0f)\n"
      "P[i] = max(I[i], m) / m + m % I[i]\n"
      "Q[i] = (J[i] / i) % n + (i << 3) + (i >> n)\n"
      "G[i] = (F[i] && flag) || A[i] < s\n"
      "D[i + 1] = f64(A[i]) + f64(I[i])\n"
      "C[i + 2] = f32(B[i])\n"
      "P[i + 1] = i32(A[i])\n"
      "C[i + 3] = select(flag, A[i + 5], A[i + 6 if i < n])");
  EXPECT_HAS(text, "div.rn.f32");
  EXPECT_HAS(text, "sqrt.rn.f32");
  EXPECT_LACKS(text, ".approx");
  EXPECT_LACKS(text, ".ftz");
}

TEST(Ptx, PowersOfTwoAreOneInstruction) {
  const std::string text = threads(
      "C[i] = exp2(A[i])\n"
      "C[ramp(i * 2, 1, 2)] = exp2(A[ramp(i * 2, 1, 2)])");
  const size_t first = text.find("ex2.approx.ftz.f32");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("ex2.approx.ftz.f32", first + 1), std::string::npos) << text;
}

TEST(Ptx, Halves) {
  for (const char* type : {"f16", "bf16"}) {
    const std::string half = type;
    const std::string text = ptx_of(
        concat("kernel kernel(A: ", half, "*, C: mut ", half, "*, F: mut f32*; n: i64) {\n",
               "block for b in [0, n) { thread for t in [0, 128) { let i: i64 = b * 128 + t\n",
               "F[i] = f32(A[i])\n C[i] = ", half, "(F[i + 1])\n", "C[ramp(i * 8, 1, 8)] = ", half,
               "(f32(A[ramp(i * 8, 1, 8)]) * broadcast(0.3f, 8))\n",
               "C[i] = select(n == 3, A[i], 0.1:", half, ") } } }"));
    EXPECT_HAS(text, "ld.global.nc.v4.b32");  // eight of them
    EXPECT_HAS(text, "st.global.v4.b32");
    EXPECT_HAS(text, concat("cvt.rn.", half, ".f32"));
    EXPECT_HAS(text, concat("cvt.rn.", half, "x2.f32"));
    EXPECT_LACKS(text, ".ftz");
  }
}

TEST(Ptx, Shuffles) {
  for (const char* mode : {"index", "xor", "up", "down"}) {
    for (const char* width : {"2", "8", "32"}) {
      const auto shuffled = [&](const std::string& value, const char* lane) {
        return concat("lane_shuffle(", mode, ", ", value, ", ", lane, ", ", width, ")");
      };
      const std::string text =
          threads(concat("C[i] = ", shuffled("A[i]", "1"), "\nD[i] = ", shuffled("B[i]", "n"),
                         "\nQ[i] = ", shuffled("J[i]", "m"), "\nP[i] = ", shuffled("m", "1"),
                         "\nG[i] = ", shuffled("F[i]", "n")));
      EXPECT_HAS(text, "shfl.sync.");
    }
  }
}

TEST(Ptx, LaneReductions) {
  for (const char* op : {"add", "mul", "min", "max"}) {
    threads(concat("C[i] = lane_reduce(", op, ", A[i], 32)\nD[i] = lane_reduce(", op,
                   ", B[i], 4)\nP[i] = lane_reduce(", op, ", I[i], 16)\nQ[i] = lane_reduce(", op,
                   ", J[i], 8)"));
  }
  threads("G[i] = lane_reduce(and, F[i], 32)\nP[i] = lane_reduce(or, I[i], 32)");
}

TEST(Ptx, Atomics) {
  const std::string text =
      threads("atomic_add(C[i], s)\natomic_add(D[i], d)\natomic_add(P[i], m)\natomic_add(Q[i], n)");
  for (const char* type : {"f32", "f64", "u32", "u64"}) {
    EXPECT_HAS(text, concat("red.global.add.", type));  // the old value is unused
  }
  EXPECT_EQ(text.find("atom."), std::string::npos) << text;
  const std::string largest = threads("atomic_max(C[i], s)\natomic_min(D[i], d)");
  for (const char* part : {"max.s32", "min.u32", "min.s64", "max.u64"})
    EXPECT_HAS(largest, concat("red.global.", part));
  EXPECT_EQ(largest.find("atom."), std::string::npos) << largest;
  EXPECT_HAS(threads("let old: i64 = atomic_add(Q[i], n)\nQ[old] = 1"), "atom.global.add.u64");
  for (const char* op : {"add", "mul", "min", "max"}) {
    threads(concat("atomic_", op, "(C[i], s)\natomic_", op, "(D[i], d)\natomic_", op,
                   "(P[i], m)\nlet old: i64 = atomic_", op, "(Q[i], n)\nQ[old] = 1"));
  }
  threads("atomic_or(G[i], flag)\natomic_and(G[i], flag)\natomic_or(P[i], m)\natomic_and(Q[i], n)");
}

TEST(Ptx, SharedMemoryAndBarriers) {
  const std::string text = ptx_of(R"(kernel kernel(A: f32*, C: mut f32*; n: i64) {
  block for b in [0, n) {
    w = alloc zeroed shared f32[100]
    thread for t in [0, 96) {
      atomic_add(w[t], A[b * 96 + t])
      w[t + 1] = 2.0f
      barrier(warp)
    }
    barrier(block)
    warp for v in [0, 2) { lane for l in [0, 16) { C[b * 32 + v * 16 + l] = w[v * 16 + l] } }
  }
})");
  EXPECT_HAS(text, ".shared .align 16");
  EXPECT_HAS(text, "bar.sync");
  EXPECT_HAS(text, "bar.warp.sync");
  EXPECT_HAS(text, "ld.shared");
  EXPECT_HAS(text, "atom.shared.add.f32");
}

TEST(Ptx, MuchSharedMemoryIsAskedForAtTheLaunch) {
  const std::string text = ptx_of(R"(kernel kernel(A: f64*, C: mut f64*; n: i64) {
  block for b in [0, n) {
    v = alloc shared f64[4000]
    w = alloc shared f64[6000]
    thread for t in [0, 256) { v[t] = A[t]
      w[t] = A[t + 256] }
    barrier(block)
    thread for t in [0, 256) { C[t] = v[t + 1] + w[t + 1] }
  }
})");
  EXPECT_HAS(text, ".extern .shared");
}

TEST(Ptx, LocalArraysAndLoops) {
  threads(R"(w = alloc zeroed local f32[8]
for k in [0, 8) { w[k] = A[i * 8 + k] }
v = alloc local i32[64]
for k in [0, n) by 3 { v[k % 64] = I[k] }
var sum: f32 = 0.0f
var p: i64 = i
while (p < n && I[p] != m) { sum = sum + w[p % 8]
p = p + i64(v[p % 64]) }
prefetch(A[i + 100], 2)
C[i] = sum)");
}

// A kernel without bound loops runs on one thread.
TEST(Ptx, SerialKernels) {
  const std::string text =
      ptx_of("kernel kernel(C: mut f32*; n: i64) { for i in [0, n) { C[i] = 0.0f } }");
  EXPECT_HAS(text, ".reqntid 1");
}

TEST(Ptx, WhatTheGpuHasNot) {
  const auto emit = [](const char* body) {
    const auto kernel =
        loop::parse_kernel(concat("kernel kernel(C: mut f32*; n: i64) {", body, "}"));
    emit_gpu({kernel}, gpu_target("sm_90"));
  };
  EXPECT_THROW(emit("parallel for i in [0, n) { C[i] = 0.0f }"), Unsupported);
  EXPECT_THROW(emit("w = alloc workspace f32[n]"), Unsupported);
  EXPECT_THROW(emit("C[0] = sin(C[0])"), Unsupported);
  EXPECT_THROW(gpu_target("sm_70"), UserError);
}

// Rows by warps, whose lanes exchange coordinates.
TEST(Ptx, SpmmWithAWarpForEachRow) {
  const std::string text = ptx_of(R"(
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
})");
  EXPECT_HAS(text, "shfl.sync.idx");
  EXPECT_HAS(text, ".reqntid 128");
  EXPECT_HAS(text, "fma.rn.f32");
}

TEST(Ptx, SddmmWithLaneReductions) {
  const std::string text = ptx_of(R"(
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
})");
  EXPECT_HAS(text, "shfl.sync.bfly");
}

}  // namespace
}  // namespace tulle::codegen
