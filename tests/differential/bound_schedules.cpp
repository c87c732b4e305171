// The schedules, grouped by the parts of a GPU that they bind.
#include "differential/bound_schedules.h"

namespace tulle::differential {

Operand sparse(const char* format, std::vector<int64_t> sizes) {
  return {.name = "A", .format = format, .sizes = std::move(sizes)};
}
Operand dense(const char* name, std::vector<int64_t> sizes) {
  return {.name = name, .sizes = std::move(sizes)};
}

namespace {

std::vector<Bound> of_whole_rows() {
  return {
      {"SpmvRowsOnThreads",
       "y[i] = A[i,j] * x[j]",
       {sparse("csr", {37, 9}), dense("x", {9})},
       "precompute(acc); split(i, 8, ib, it); bind(ib, block); bind(it, thread)"},
      {"SpmmRowsOnThreads",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {37, 9}), dense("B", {9, 6})},
       "split(i, 8, ib, it); bind(ib, block); bind(it, thread)"},
      {"SpmmRowsOnThreadsInRegisters",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {37, 9}), dense("B", {9, 6})},
       "precompute(acc, k); split(i, 8, ib, it); bind(ib, block); bind(it, thread); "
       "vectorize(k, 4); unroll(j, 2)"},
      {"ExampleByHand",  // ON_GPU of examples/schedule.py
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {21, 9}), dense("B", {9, 64})},
       "split(k, 4, kv, k1); split(i, 8, block, row); reorder(block, row, kv, j, k1); "
       "fuse(row, kv, thread); precompute(acc, k1); bind(block, block); bind(thread, thread); "
       "vectorize(k1, 4); unroll(j, 4)"},
      {"SpmmWarpForARow",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {11, 9}), dense("B", {9, 70})},
       "split(k, 32, kp, kl); split(i, 4, ib, iw); reorder(ib, iw, kp, j, kl); precompute(acc, "
       "kl); "
       "bind(ib, block); bind(iw, warp); bind(kl, lane); unroll(j, 4)"},
      {"SpmmWarpForARowWithVectors",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {11, 9}), dense("B", {9, 150})},
       "split(k, 128, kp, kr); split(kr, 4, kl, kv); split(i, 4, ib, iw); "
       "reorder(ib, iw, kp, j, kl, kv); precompute(acc, (kl, kv)); bind(ib, block); "
       "bind(iw, warp); bind(kl, lane); vectorize(kv, 4); unroll(j, 4)"},
      {"SpmmBlockForARow",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {5, 9}), dense("B", {9, 70})},
       "split(k, 64, kp, kt); reorder(i, kp, j, kt); precompute(acc, kt); bind(i, block); "
       "bind(kt, thread)"},
      {"SpmmColumnsInside",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {5, 9}), dense("B", {9, 20})},
       "split(k, 8, kp, kt); bind(i, block); bind(kt, thread)"},
      {"ElementwiseOnThreads",
       "Y[i,j] = X[i,j] * 2",
       {dense("X", {7, 19})},
       "fuse(i, j, f); split(f, 16, fb, ft); bind(fb, block); bind(ft, thread)"},
      {"ScaleRowsOfAPattern",
       "C[i,j] = A[i,j] * d[i]",
       {sparse("csr", {13, 9}), dense("d", {13})},
       "split(i, 4, ib, it); bind(ib, block); bind(it, thread)"},
      {"SddmmRowsOnThreads",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 9}), dense("Q", {13, 7}), dense("K", {9, 7})},
       "precompute(acc); split(i, 4, ib, it); bind(ib, block); bind(it, thread)"},
      {"StoresOfOneThread",
       "y[i] = A[i,j] * x[j]",
       {sparse("csr", {7, 9}), dense("x", {9})},
       "split(i, 2, ib, iw); bind(ib, block); bind(iw, warp)"},
      {"SddmmLanesOverTheSum",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 9}), dense("Q", {13, 70}), dense("K", {9, 70})},
       "split(d, 32, d0, dl); reorder(i, j, dl, d0); precompute(acc); rfactor(dl, part); "
       "split(i, 4, ib, iw); bind(ib, block); bind(iw, warp); bind(dl, lane)"},
      {"SddmmEightLanesWithVectors",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 9}), dense("Q", {13, 40}), dense("K", {9, 40})},
       "split(d, 32, d0, dr); split(dr, 4, dl, dv); reorder(i, j, dl, d0, dv); precompute(acc); "
       "rfactor(dl, part); split(i, 4, ib, iw); bind(ib, block); bind(iw, warp); bind(dl, lane); "
       "vectorize(dv, 4)"},
      {"RowSumsByLanes",
       "y[i] = X[i,j] * x[j]",
       {dense("X", {9, 45}), dense("x", {45})},
       "split(j, 16, j0, jl); reorder(i, jl, j0); rfactor(jl, part); split(i, 2, ib, iw); "
       "bind(ib, block); bind(iw, warp); bind(jl, lane)"},
      {"RowSumsByWarps",
       "C[i,k] = X[i,j] * Y[j,k]",
       {dense("X", {9, 45}), dense("Y", {45, 5})},
       "split(j, 3, j0, jw); reorder(i, jw, j0, k); precompute(acc, k); rfactor(jw, part); "
       "bind(i, block); bind(jw, warp)"},
      {"RowSumsByThreads",
       "y[i] = X[i,j] * x[j]",
       {dense("X", {9, 45}), dense("x", {45})},
       "split(j, 20, j0, jt); reorder(i, jt, j0); precompute(acc); rfactor(jt, part); "
       "bind(i, block); bind(jt, thread)"},
      {"SpmvLanesOverEntries",
       "y[i] = A[i,j] * x[j]",
       {sparse("csr", {13, 90}), dense("x", {90})},
       "split_positions(j, 32, j0, jl); reorder(i, jl, j0); precompute(acc); rfactor(jl, part); "
       "split(i, 4, ib, iw); bind(ib, block); bind(iw, warp); bind(jl, lane)"},
      {"SpmvLanesOverEntriesInside",
       "y[i] = A[i,j] * x[j]",
       {sparse("csr", {13, 30}), dense("x", {30})},
       "split_positions(j, 4, j0, jl); precompute(acc); rfactor(jl, part); "
       "split(i, 4, ib, iw); bind(ib, block); bind(iw, warp); bind(jl, lane)"},
      {"EntriesOfAPatternOnLanes",
       "C[i,j] = A[i,j] * d[i]",
       {sparse("csr", {13, 50}), dense("d", {13})},
       "split_positions(j, 32, j0, jl); split(i, 4, ib, iw); bind(ib, block); bind(iw, warp); "
       "bind(jl, lane)"},
      {"SpmvRowsAndEntriesOnLanes",
       "y[i] = A[i,j] * x[j]",
       {sparse("csr", {53, 30}), dense("x", {30})},
       "split_positions(j, 4, j0, jl); split(i, 16, ib, ir); split(ir, 8, iw, il); "
       "reorder(ib, iw, il, jl, j0); precompute(acc); rfactor(jl, part); bind(ib, block); "
       "bind(iw, warp); bind(il, lane); bind(jl, lane); unroll(j0, 4)"},
      {"SpmmColumnsAndEntriesOnLanes",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 32})},
       "split(k, 4, kl, kv); split_positions(j, 4, j0, jl); split(i, 4, ib, iw); "
       "reorder(ib, iw, kl, jl, j0, kv); precompute(acc, kv); rfactor(jl, part); bind(ib, block); "
       "bind(iw, warp); bind(kl, lane); bind(jl, lane); vectorize(kv, 4); unroll(j0, 2)"},
      {"SpmmColumnsAndEntriesOnSomeLanes",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 10})},
       "split(k, 2, kl, kv); split_positions(j, 2, j0, jl); split(i, 3, ib, iw); "
       "reorder(ib, iw, kl, jl, j0, kv); precompute(acc, kv); rfactor(jl, part); bind(ib, block); "
       "bind(iw, warp); bind(kl, lane); bind(jl, lane); vectorize(kv, 2)"},
      {"SddmmEntriesAndTheSumOnLanes",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 20}), dense("Q", {13, 70}), dense("K", {20, 70})},
       "split_positions(j, 4, j0, jl); split(d, 32, d0, dr); split(dr, 4, dl, dv); "
       "split(i, 4, ib, iw); reorder(ib, iw, jl, j0, dl, dv, d0); precompute(acc); "
       "rfactor(dl, part); rfactor(dv, sums); reorder(d0, dv); bind(ib, block); bind(iw, warp); "
       "bind(jl, lane); bind(dl, lane); vectorize(dv, 4); unroll(d0, 0); unroll(j0, 2)"},
      {"EntriesOfRowsOnLanes",
       "C[i,j] = A[i,j] * d[i]",
       {sparse("csr", {53, 30}), dense("d", {53})},
       "split_positions(j, 8, j0, jl); split(i, 8, ib, ir); split(ir, 4, iw, il); "
       "reorder(ib, iw, il, jl, j0); bind(ib, block); bind(iw, warp); bind(il, lane); "
       "bind(jl, lane)"},
      {"AttentionEntriesAndWidthsOnLanes",
       "O[i,d] = softmax(j in A[i,j], sum(k, Q[i,k] * K[j,k])) * V[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 20}), dense("K", {40, 20}), dense("V", {40, 24})},
       "split(i, 4, ib, iw); split_positions(j, 4, js, jl); reorder(jl, js); split(k, 32, ks, kr); "
       "split(kr, 4, kl, kv); reorder(kl, kv, ks); split(d, 16, ds, dr); split(dr, 2, dl, dv); "
       "reorder(dl, ds, dv); rfactor(kl, dot); rfactor(kv, dots); reorder(ks, kv); "
       "rfactor(jl, part); bind(ib, block); bind(iw, warp); bind(kl, lane); bind(dl, lane); "
       "bind(jl, lane); vectorize(kv, 4); vectorize(dv, 2); unroll(ds, 0); unroll(js, 2)"},
      {"ArgmaxRowsAndEntriesOnLanes",
       "y[i] = argmax(j in A[i,j], A[i,j] * x[j])",
       {sparse("csr", {53, 30}), dense("x", {30})},
       "split_positions(j, 4, j0, jl); split(i, 16, ib, ir); split(ir, 8, iw, il); "
       "reorder(jl, j0); rfactor(jl, part); bind(ib, block); bind(iw, warp); bind(il, lane); "
       "bind(jl, lane); unroll(j0, 4)"},
      {"LogsumexpEntriesOnLanes",
       "y[i] = logsumexp(j in A[i,j], A[i,j])",
       {sparse("csr", {13, 90})},
       "split_positions(j, 32, j0, jl); reorder(jl, j0); rfactor(jl, part); split(i, 4, ib, iw); "
       "bind(ib, block); bind(iw, warp); bind(jl, lane)"},
      {"ArgmaxEntriesOnWarpsAndLanes",
       "y[i] = argmax(j, X[i,j] * x[j])",
       {dense("X", {7, 300}), dense("x", {300})},
       "split(j, 128, j0, jr); split(jr, 32, jw, jl); reorder(jw, jl, j0); rfactor(jw, parts); "
       "rfactor(jl, part); bind(i, block); bind(jw, warp); bind(jl, lane)"},
      {"LogsumexpOverWarps",
       "y[i] = logsumexp(j in A[i,j], A[i,j])",
       {sparse("csr", {13, 90})},
       "split_positions(j, 5, j0, jw); reorder(jw, j0); rfactor(jw, part); bind(i, block); "
       "bind(jw, warp)"},
      {"LogsumexpOverThreads",
       "y[i] = logsumexp(j in A[i,j], A[i,j])",
       {sparse("csr", {13, 90})},
       "split_positions(j, 24, j0, jt); reorder(jt, j0); rfactor(jt, part); bind(i, block); "
       "bind(jt, thread)"},
      {"AttentionOverWarps",
       "O[i,d] = softmax(j in A[i,j], sum(k, Q[i,k] * K[j,k])) * V[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 20}), dense("K", {40, 20}), dense("V", {40, 24})},
       "split_positions(j, 4, js, jw); reorder(jw, js); split(k, 8, ks, kl); reorder(kl, ks); "
       "split(d, 8, ds, dl); reorder(dl, ds); rfactor(kl, dot); rfactor(jw, part); "
       "bind(i, block); bind(jw, warp); bind(kl, lane); bind(dl, lane); unroll(ds, 0); "
       "stage(Q, i, shared); stage(V, js, registers, 2)"},
      {"AttentionChunksOnWarps",
       "O[i,d] = softmax(j in A[i,j], sum(k, Q[i,k] * K[j,k])) * V[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 20}), dense("K", {40, 20}), dense("V", {40, 24})},
       "split_rows(i, 5, c, r); split(c, 4, ib, iw); split_positions(j, 4, js, jl); "
       "reorder(jl, js); split(k, 8, ks, kl); reorder(kl, ks); split(d, 8, ds, dl); "
       "reorder(dl, ds); rfactor(kl, dot); rfactor(jl, part); bind(ib, block); bind(iw, warp); "
       "bind(kl, lane); bind(dl, lane); bind(jl, lane); unroll(ds, 0); unroll(js, 2)"},
      {"AttentionChunksOnThreads",
       "O[i,d] = softmax(j in A[i,j], A[i,j]) * V[j,d]",
       {sparse("csr", {13, 40}), dense("V", {40, 6})},
       "split_rows(i, 3, c, r); split(c, 4, cb, ct); bind(cb, block); bind(ct, thread)"},
      {"AttentionOfHeadsInChunks",
       "O[h,i,d] = softmax(j in A[i,j], Q[h,i] * K[h,j]) * V[h,j,d]",
       {sparse("csr", {13, 40}), dense("Q", {2, 13}), dense("K", {2, 40}), dense("V", {2, 40, 6})},
       "split_rows(i, 4, c, r); fuse(h, c, hc); split(hc, 4, cb, cw); bind(cb, block); "
       "bind(cw, warp)"},
      {"ArgmaxChunksOnLanes",
       "y[i] = argmax(j in A[i,j], A[i,j] * x[j])",
       {sparse("csr", {53, 30}), dense("x", {30})},
       "split_rows(i, 2, c, r); split_positions(j, 4, j0, jl); split(c, 16, ib, ir); "
       "split(ir, 8, iw, il); reorder(jl, j0); rfactor(jl, part); bind(ib, block); bind(iw, warp); "
       "bind(il, lane); bind(jl, lane)"},
      {"LogsumexpChunksOnBlocks",
       "y[i] = logsumexp(j in A[i,j], A[i,j])",
       {sparse("csr", {13, 90})},
       "split_rows(i, 7, c, r); bind(c, block)"},
      {"SpmmOfNumberedRows",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("dcsr", {37, 9}), dense("B", {9, 8})},
       "number_rows(i, r); split(k, 4, kt, kv); split(r, 8, rb, ri); reorder(rb, ri, kt, j, kv); "
       "fuse(ri, kt, t); precompute(acc, kv); bind(rb, block); bind(t, thread); vectorize(kv, 4); "
       "unroll(j, 2)"},
      {"SpmmOfNumberedRowsDealt",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("pieces(4)", {13, 40}), dense("B", {40, 32})},
       "number_rows(i, n); deal_rows(n, 6, c, r, 3, 4); split(k, 4, kl, kv); split(c, 4, cb, cw); "
       "reorder(cb, cw, kl, r, j, kv); precompute(acc, kv); bind(cb, block); bind(cw, warp); "
       "bind(kl, lane); vectorize(kv, 4); unroll(j, 4)"},
      {"SpmvOfNumberedRowsInChunks",
       "y[i] = A[i,j] * x[j]",
       {sparse("pieces(3)", {53, 30}), dense("x", {30})},
       "number_rows(i, n); split_rows(n, 2, c, r); split(c, 16, cb, ci); split(ci, 8, cw, cl); "
       "split_positions(j, 4, j0, jl); reorder(cb, cw, cl, r, jl, j0); precompute(acc); "
       "rfactor(jl, part); bind(cb, block); bind(cw, warp); bind(cl, lane); bind(jl, lane)"},
      {"SpmvLanesOverPaddedEntries",
       "y[i] = A[i,j] * x[j]",
       {sparse("ell(9)", {13, 9}), dense("x", {9})},
       "split_positions(j, 4, j0, jl); reorder(i, jl, j0); precompute(acc); rfactor(jl, part); "
       "split(i, 4, ib, iw); bind(ib, block); bind(iw, warp); bind(jl, lane)"},
      {"PatternOfNumberedRows",
       "C[i,j] = A[i,j] * d[i]",
       {sparse("dcsr", {13, 9}), dense("d", {13})},
       "number_rows(i, r); split(r, 4, rb, rt); bind(rb, block); bind(rt, thread)"},
      {"NumberedBlocks",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("dbsr(2,3)", {7, 9}), dense("B", {9, 6})},
       "number_rows(i.outer, r); bind(r, block); bind(k, thread)"},
      {"SddmmRowInRegisters",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 32}), dense("K", {40, 32})},
       "split_rows(i, 6, c, r); split_positions(j, 4, j0, jl); split(d, 8, dl, dv); "
       "split(c, 4, cb, cw); reorder(cb, cw, r, jl, j0, dl, dv); precompute(acc); "
       "rfactor(dl, part); rfactor(dv, sums); bind(cb, block); bind(cw, warp); bind(jl, lane); "
       "bind(dl, lane); vectorize(dv, 4); stage(Q, jl, registers); unroll(j0, 2)"},
      {"SddmmRowShared",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 30}), dense("K", {40, 30})},
       "split(d, 8, d0, dl); split(i, 4, ib, iw); reorder(ib, iw, j, dl, d0); precompute(acc); "
       "rfactor(dl, part); bind(ib, block); bind(iw, warp); bind(dl, lane); stage(Q, iw, shared)"},
      {"SpmmNextRowInRegisters",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 32})},
       "split(k, 4, kl, kv); split(i, 4, ib, iw); reorder(ib, iw, kl, j, kv); "
       "precompute(acc, kv); bind(ib, block); bind(iw, warp); bind(kl, lane); vectorize(kv, 4); "
       "stage(B, j, registers, 3)"},
      {"SpmmNextRowsOfPieces",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 32})},
       "split(k, 4, kl, kv); split_positions(j, 4, j0, jl); split(i, 4, ib, iw); "
       "reorder(ib, iw, kl, jl, j0, kv); precompute(acc, kv); rfactor(jl, part); bind(ib, block); "
       "bind(iw, warp); bind(kl, lane); bind(jl, lane); vectorize(kv, 4); "
       "stage(B, j0, registers, 2); unroll(j0, 2)"},
      {"TilesInSharedMemory",
       "C[i,k] = A[i,j] * B[j,k]",
       {dense("A", {13, 37}), dense("B", {37, 30})},
       "split(i, 4, ib, iw); split(j, 8, j0, j1); split(k, 32, k0, k1); "
       "reorder(ib, k0, j0, iw, k1, j1); bind(ib, block); bind(iw, warp); bind(k1, lane); "
       "stage(B, j0, shared); stage(A, j0, shared)"},
      {"NextTilesInSharedMemory",
       "C[i,k] = A[i,j] * B[j,k]",
       {dense("A", {13, 37}), dense("B", {37, 30})},
       "split(i, 4, ib, iw); split(j, 8, j0, j1); split(k, 32, k0, k1); "
       "reorder(ib, k0, j0, iw, k1, j1); bind(ib, block); bind(iw, warp); bind(k1, lane); "
       "stage(B, j0, shared, 3); stage(A, j0, shared, 2)"},
      {"TilesOfThreads",
       "C[i,k] = A[i,j] * B[j,k]",
       {dense("A", {13, 37}), dense("B", {37, 30})},
       "split(i, 4, ib, i1); split(j, 8, j0, j1); split(k, 16, k0, k1); "
       "reorder(ib, k0, j0, k1, i1, j1); bind(ib, block); bind(k1, thread); "
       "stage(B, j0, shared, 2); stage(B, k1, registers)"},
      {"AttentionQueryInRegisters",
       "O[i,d] = softmax(j in A[i,j], sum(k, Q[i,k] * K[j,k])) * V[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 20}), dense("K", {40, 20}), dense("V", {40, 24})},
       "split_rows(i, 5, c, r); split(c, 4, ib, iw); split_positions(j, 4, js, jl); "
       "reorder(jl, js); split(k, 8, ks, kl); reorder(kl, ks); split(d, 8, ds, dl); "
       "reorder(dl, ds); rfactor(kl, dot); rfactor(jl, part); bind(ib, block); bind(iw, warp); "
       "bind(kl, lane); bind(dl, lane); bind(jl, lane); unroll(ds, 0); stage(Q, jl, registers); "
       "stage(V, js, registers, 2)"},
      {"AttentionQueryShared",
       "O[i,d] = softmax(j in A[i,j], sum(k, Q[i,k] * K[j,k])) * V[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 20}), dense("K", {40, 20}), dense("V", {40, 24})},
       "split_rows(i, 5, c, r); split(c, 4, ib, iw); bind(ib, block); bind(iw, warp); "
       "stage(Q, r, shared)"},
      {"IndependentStatementsInOneLaunch",
       "y[i] = A[i,j] * x[j]\nC[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {37, 9}), dense("x", {9}), dense("B", {9, 6})},
       "split(i, 8, ib, it); bind(ib, block); bind(it, thread); C: fuse_launches(y)"},
      {"PartsInOneLaunch",
       "y[i] = A[i,j] * x[j]",
       {sparse("{ columns(2){ rest: csr } }", {37, 9}), dense("x", {9})},
       "split(i, 8, ib, it); bind(ib, block); bind(it, thread); fuse_launches(y)"},
      {"PartsOfAMaximumInOneLaunch",
       "y[i] = max(j in A[i,j], A[i,j] * x[j])",
       {sparse("{ rows(nnz<=2): ell(2); rest: csr }", {37, 9}), dense("x", {9})},
       "split(i, 8, ib, it); bind(ib, block); bind(it, thread); fuse_launches(y)"},
      {"PartsOfAProductGatheredInOneLaunch",
       "y[i] = prod(j in A[i,j], A[i,j] * x[j])",
       {sparse("{ rows(nnz<=2): dell(2); rest: dcsr }", {37, 9}), dense("x", {9})},
       "number_rows(i, r); split(r, 8, rb, rt); precompute(acc, ()); bind(rb, block); "
       "bind(rt, thread); fuse_launches(y)"},
      {"StoredRowsOfMinima",
       "y[i] = min(j in A[i,j], A[i,j])",
       {sparse("dcsr", {37, 9})},
       "number_rows(i, r); split(r, 8, rb, rt); precompute(acc, ()); bind(rb, block); "
       "bind(rt, thread)"},
      {"BlocksOfBsr",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(2,3)", {7, 9}), dense("B", {9, 6})},
       "bind(i.outer, block); bind(k, thread)"},
      {"BlocksOfAProductOnMembers",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(2,3)", {17, 13}), {.name = "B", .format = "bsr(3,4)", .sizes = {13, 30}}},
       "precompute(acc, (k.outer, i.inner, k.inner), tracked); parallel(i.outer, by=nnz); "
       "bind(k.inner, member); "
       "bind(i.inner, member)"},
      {"RowsOfBlocksOnMembers",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(4,2)", {19, 13}), {.name = "B", .format = "bsr(2,3)", .sizes = {13, 30}}},
       "precompute(acc, (k.outer, i.inner, k.inner), tracked); parallel(i.outer, by=rows); "
       "bind(i.inner, member)"},
      {"StoredRowsOfCutBlocks",
       "y[j] = B[i,j] * m[j]",
       {{.name = "B",
         .format = "(i,j) -> (j/3: compressed, i: compressed, j%3: dense)",
         .sizes = {7, 5}},
        dense("m", {5})},
       "number_rows(j.outer, js); split(js, 2, jb, ji); reorder(jb, ji, j.inner, i); fuse(ji, "
       "j.inner, jt); "
       "precompute(acc, ()); bind(jb, block); bind(jt, thread)"},
      {"RowsOfBlocksScanned",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(4,2)", {19, 13}), {.name = "B", .format = "bsr(2,3)", .sizes = {13, 30}}},
       "precompute(acc, (k.outer, i.inner, k.inner), scanned); parallel(i.outer, by=rows); "
       "bind(i.inner, member)"},
      {"RowsOfAProductScanned",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {19, 13}), {.name = "B", .format = "csr", .sizes = {13, 30}}},
       "precompute(acc, k, scanned); parallel(i, by=nnz)"},
      {"BlocksInOneChunkOnMembers",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(4,2)", {19, 13}), {.name = "B", .format = "bsr(2,3)", .sizes = {13, 30}}},
       "precompute(acc, (k.outer, i.inner, k.inner), tracked); bind(k.inner, member)"},
      {"BlocksThatMayBeEmptyOnMembers",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(2,3)", {17, 13}),
        {.name = "B",
         .format = "(j,k) -> (j/3: dense, k/4: compressed, j%3: compressed, k%4: dense)",
         .sizes = {13, 30}}},
       "reorder(i.outer, j.outer, k.outer, i.inner, j.inner, k.inner); precompute(acc, (k.outer, "
       "i.inner, k.inner), tracked); "
       "parallel(i.outer, by=nnz); bind(k.inner, member); bind(i.inner, member)"},
      {"BlocksThatMembersDisagreeAbout",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(2,3)", {17, 13}),
        {.name = "B",
         .format = "(j,k) -> (j/3: dense, k/4: compressed, k%4: dense, j%3: compressed)",
         .sizes = {13, 30}}},
       "reorder(i.outer, j.outer, k.outer, i.inner, k.inner, j.inner); precompute(acc, (k.outer, "
       "i.inner, k.inner), tracked); "
       "parallel(i.outer, by=nnz); bind(k.inner, member); bind(i.inner, member)"},
      {"SumOfEntriesUnrolled",
       "s = A[i,j] * x[j]",
       {sparse("csr", {37, 9}), dense("x", {9})},
       "split_entries(i, j, 3, c, e); split(c, 32, g, l); rfactor(l, part); "
       "bind(g, block, sums=atomics); unroll(e, 4)"},
  };
}

}  // namespace

const std::vector<Bound>& bound_schedules() {
  static const std::vector<Bound> all = [] {
    std::vector<Bound> found = of_whole_rows(), others = schedules_of_chunks();
    found.insert(found.end(), others.begin(), others.end());
    return found;
  }();
  return all;
}

Case bound_case(const Bound& bound, unsigned seed) {
  Case test{.text = bound.text, .operands = bound.operands};
  test.schedule = bound.schedule;
  test.gpu = true;
  test.seed = seed;
  return test;
}

}  // namespace tulle::differential
