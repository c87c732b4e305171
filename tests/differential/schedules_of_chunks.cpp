// Schedules with chunks of rows and entries, and with atomics.
#include "differential/bound_schedules.h"

namespace tulle::differential {

std::vector<Bound> schedules_of_chunks() {
  return {
      {"SpmmChunksOnThreads",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 32})},
       "split_rows(i, 5, c, r); split(k, 4, kt, kv); split(c, 4, cb, ci); "
       "reorder(cb, ci, kt, r, j, kv); fuse(ci, kt, t); precompute(acc, kv); bind(cb, block); "
       "bind(t, thread); vectorize(kv, 4); unroll(j, 4)"},
      {"SpmmChunksOnThreadsInMemory",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 6})},
       "split_rows(i, 3, c, r); split(c, 4, cb, ct); bind(cb, block); bind(ct, thread)"},
      {"SpmmChunksOnWarps",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 32})},
       "split_rows(i, 7, c, r); split(k, 4, kl, kv); split_positions(j, 4, j0, jl); "
       "split(c, 4, cb, cw); reorder(cb, cw, kl, r, jl, j0, kv); precompute(acc, kv); "
       "rfactor(jl, part); bind(cb, block); bind(cw, warp); bind(kl, lane); bind(jl, lane); "
       "vectorize(kv, 4); unroll(j0, 2)"},
      {"SpmmDealtToWarps",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {13, 40}), dense("B", {40, 32})},
       "deal_rows(i, 3, c, r, 3, 4); split(k, 4, kl, kv); split_positions(j, 4, j0, jl); "
       "split(c, 4, cb, cw); reorder(cb, cw, kl, r, jl, j0, kv); precompute(acc, kv); "
       "rfactor(jl, part); bind(cb, block); bind(cw, warp); bind(kl, lane); bind(jl, lane); "
       "vectorize(kv, 4); unroll(j0, 2)"},
      {"SpmmDealtToThreads",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csr", {53, 30}), dense("B", {30, 8})},
       "split(k, 4, kt, kv); deal_rows(i, 5, c, r, 2, 8); split(c, 8, cb, ci); "
       "reorder(cb, ci, kt, r, j, kv); fuse(ci, kt, t); precompute(acc, kv); bind(cb, block); "
       "bind(t, thread); vectorize(kv, 4); unroll(j, 4)"},
      {"DealtIntoASparseResult",
       "C[i,j] = A[i,j] * d[i]",
       {sparse("csr", {13, 20}), dense("d", {13})},
       "deal_rows(i, 2, c, r, 3, 2); split(c, 2, cb, ct); bind(cb, block); bind(ct, thread)"},
      {"SddmmInPanelsOfTheSum",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 60}), dense("Q", {13, 64}), dense("K", {60, 64})},
       "deal_rows(i, 20, c, r, 3, 4); split(c, 4, cb, cw); split_positions(j, 4, j0, jl); "
       "split(d, 32, dp, dr); split(dr, 4, dl, dv); reorder(cb, cw, dp, r, jl, j0, dl, dv); "
       "rfactor(dl, part); rfactor(dv, sums); bind(cb, block); bind(cw, warp); bind(jl, lane); "
       "bind(dl, lane); vectorize(dv, 4); unroll(j0, 4)"},
      {"SddmmPanelsOnBlocks",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 24}), dense("K", {40, 24})},
       "deal_rows(i, 5, c, r, 3, 4); split(c, 4, cb, cw); split_positions(j, 4, js, jl); "
       "split(d, 8, dp, dq); reorder(dp, cb, cw, r, jl, js, dq); rfactor(dq, S_part); "
       "fuse(dp, cb, f); bind(f, block, sums=atomics); bind(cw, warp); bind(jl, lane); "
       "bind(dq, lane); unroll(js, 2)"},
      {"SddmmOfAPatternInPanelsOnBlocks",
       "S[i,j] = within(A[i,j], sum(d, Q[i,d] * K[j,d]))",
       {sparse("csr", {13, 40}), dense("Q", {13, 24}), dense("K", {40, 24})},
       "split(d, 8, dp, dq); split(i, 4, ib, it); reorder(dp, ib, it, j, dq); fuse(dp, ib, f); "
       "bind(f, block, sums=atomics); bind(it, thread)"},
      {"ProductsOfDenseInPanelsOnBlocks",
       "C[i,k] = A[i,j] * B[j,k]",
       {dense("A", {7, 21}), dense("B", {21, 20})},
       "split(j, 8, jo, ji); split(k, 8, kp, kt); reorder(jo, i, kp, kt, ji); fuse(jo, i, f); "
       "bind(f, block, sums=atomics); bind(kt, thread)"},
      {"SumsOfColumnsOverBlocks",
       "y[j] = X[i,j]",
       {dense("X", {13, 20})},
       "split(i, 4, ib, ii); split(j, 8, jp, jt); reorder(ib, jp, jt, ii); "
       "bind(ib, block, sums=atomics); bind(jt, thread)"},
      {"CutRowsAndColumnsOnBlocks",
       "y[i] = A[i,j] * B[j,k] * D[i,k]",
       {sparse("csr", {13, 9}), dense("B", {9, 6}), dense("D", {13, 6})},
       "split_rows(i, 5, c, r); reorder(k, c, r, j); fuse(k, c, f); "
       "bind(f, block, sums=atomics)"},
      {"BlocksThatAddUpInOneLaunch",
       "y[j] = X[i,j]\nz[i] = A[i,j] * x[j]",
       {dense("X", {13, 9}), sparse("csr", {13, 9}), dense("x", {9})},
       "y: split(i, 4, ib, ii); y: reorder(ib, j, ii); y: bind(ib, block, sums=atomics); "
       "y: bind(j, thread); z: split(i, 8, zb, zt); z: bind(zb, block); z: bind(zt, thread); "
       "z: fuse_launches(y)"},
      {"ScatteredRowsOnBlocks",
       "y[j] = A[i,j] * x[i]",
       {sparse("csr", {13, 9}), dense("x", {13})},
       "split(i, 4, ib, ii); bind(ib, block, sums=atomics)"},
      {"ScatteredEntriesOnThreads",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csc", {13, 40}), dense("B", {40, 8})},
       "split(k, 4, k0, k1); split_entries(j, i, 3, c, e); split(c, 4, cb, ci); "
       "reorder(cb, ci, k0, e, k1); fuse(ci, k0, t); bind(cb, block, sums=atomics); "
       "bind(t, thread, sums=atomics); vectorize(k1, 4); unroll(e, 2)"},
      {"ScatteredRowsOnThreads",
       "C[k,r] = A[i,j,k] * B[j,r] * D[i,r]",
       {sparse("csf", {9, 7, 8}), dense("B", {7, 4}), dense("D", {9, 4})},
       "number_rows(i, n); split(n, 3, nb, nt); bind(nb, block, sums=atomics); "
       "bind(nt, thread, sums=atomics)"},
      {"ColumnsSummedBeforeAtomics",
       "y[j] = X[i,j]",
       {dense("X", {29, 20})},
       "split(j, 8, jp, jl); split(i, 3, ic, ir); split(ic, 4, ib, ii); "
       "reorder(jp, ib, ii, jl, ir); fuse(ii, jl, t); fuse(jp, ib, b); "
       "bind(b, block, sums=atomics); bind(t, thread, sums=atomics); precompute(acc, ()); "
       "unroll(ir, 2)"},
      {"SumOfEntriesOnLanes",
       "s = A[i,j] * x[i] * x[j]",
       {sparse("csr", {23, 23}), dense("x", {23})},
       "split_entries(i, j, 2, c, e); split(c, 32, cg, cl); rfactor(cl, part); split(cg, 2, cb, "
       "cw); "
       "bind(cb, block, sums=atomics); bind(cw, warp, sums=atomics); bind(cl, lane)"},
      {"ListedEntriesOnThreads",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("coo", {13, 40}), dense("B", {40, 8})},
       "split(k, 4, k0, k1); split_entries(i, j, 3, c, e); split(c, 4, cb, ci); "
       "reorder(cb, ci, k0, e, k1); fuse(ci, k0, t); bind(cb, block, sums=atomics); "
       "bind(t, thread, sums=atomics); vectorize(k1, 4); unroll(e, 2)"},
      {"ListedPatternOnThreads",
       "S[i,j] = A[i,j] * x[i] * y[j]",
       {sparse("coo", {23, 9}), dense("x", {23}), dense("y", {9})},
       "split_entries(i, j, 3, c, e); split(c, 8, cb, ct); bind(cb, block); bind(ct, thread); "
       "unroll(e, 3)"},
      {"LargestOfCutRows",
       "C[i,k] = max(j in A[i,j], A[i,j] * B[j,k])",
       {sparse("csr", {9, 40}), dense("B", {40, 8})},
       "split(k, 4, k0, k1); split_rows(i, 8, c, r); split(c, 4, cb, ci); "
       "reorder(cb, ci, k0, r, j, k1); fuse(ci, k0, t); precompute(acc, k1); bind(cb, block); "
       "bind(t, thread); vectorize(k1, 4)"},
      {"SmallestOfDealtRows",
       "y[i] = min(j in A[i,j], A[i,j] * x[j])",
       {sparse("csr", {13, 40}), dense("x", {40})},
       "deal_rows(i, 5, c, r, 2, 4); split(c, 4, cb, ct); precompute(acc); bind(cb, block); "
       "bind(ct, thread)"},
      {"LargestEntriesOfColumns",
       "y[j] = max(i in A[i,j], A[i,j] * x[i])",
       {sparse("csr", {23, 9}), dense("x", {23})},
       "split_entries(i, j, 3, c, e); split(c, 8, cb, ct); bind(cb, block, sums=atomics); "
       "bind(ct, thread, sums=atomics)"},
      {"SmallestOfAllOnLanes",
       "s = min((i,j), X[i,j] * x[j])",
       {dense("X", {23, 20}), dense("x", {20})},
       "split(j, 4, jo, jl); reorder(i, jl, jo); rfactor(jl, part); split(i, 2, ib, iw); "
       "bind(ib, block, sums=atomics); bind(iw, warp, sums=atomics); bind(jl, lane)"},
      {"ProductOfEntriesOnThreads",
       "s = prod((i,j) in A[i,j], A[i,j])",
       {sparse("csr", {9, 7})},
       "split_entries(i, j, 2, c, e); split(c, 4, cb, ct); bind(cb, block, sums=atomics); "
       "bind(ct, thread, sums=atomics)"},
      {"CopiesAreNoParts",
       "y[j] = X[i,j]",
       {dense("X", {4, 20})},
       "bind(i, block, sums=atomics); split(j, 4, j0, j1); bind(j1, thread); split(j0, 2, j2, j3); "
       "stage(X, j2, registers, 2)"},
      {"SddmmChunksOnWarps",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 32}), dense("K", {40, 32})},
       "split_rows(i, 6, c, r); split(d, 8, d0, dl); split(c, 4, cb, cw); "
       "reorder(cb, cw, r, j, dl, d0); precompute(acc); rfactor(dl, part); bind(cb, block); "
       "bind(cw, warp); bind(dl, lane)"},
      {"SddmmEntriesOnLanes",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 32}), dense("K", {40, 32})},
       "split_entries(i, j, 6, c, e); split(d, 8, d0, dl); split(c, 16, cb, ci); "
       "split(ci, 4, cw, cl); reorder(cb, cw, cl, e, dl, d0); precompute(acc); rfactor(dl, part); "
       "bind(cb, block); bind(cw, warp); bind(cl, lane); bind(dl, lane); unroll(e, 4)"},
      {"EntriesOnThreads",
       "S[i,j] = A[i,j] * d[i]",
       {sparse("csr", {13, 40}), dense("d", {13})},
       "split_entries(i, j, 3, c, e); split(c, 4, cb, ct); bind(cb, block); bind(ct, thread)"},
      {"SumsAtEntriesOnThreads",
       "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       {sparse("csr", {13, 40}), dense("Q", {13, 5}), dense("K", {40, 5})},
       "split_entries(i, j, 4, c, e); split(c, 4, cb, ct); bind(cb, block); bind(ct, thread)"},
      {"EntriesIntoADenseResult",
       "C[i,j] = A[i,j] * d[i]",
       {sparse("csr", {13, 20}), dense("d", {13})},
       "split_entries(i, j, 2, c, e); split(c, 4, cb, ct); bind(cb, block); bind(ct, thread)"},
      {"SpmvChunksOnLanes",
       "y[i] = A[i,j] * x[j]",
       {sparse("csr", {53, 30}), dense("x", {30})},
       "split_rows(i, 2, c, r); split(c, 16, cb, ci); split(ci, 8, cw, cl); "
       "split_positions(j, 4, j0, jl); reorder(cb, cw, cl, r, jl, j0); precompute(acc); "
       "rfactor(jl, part); bind(cb, block); bind(cw, warp); bind(cl, lane); bind(jl, lane)"},
      {"ChunksIntoADenseResult",
       "C[i,j] = A[i,j] * d[i]",
       {sparse("csr", {13, 20}), dense("d", {13})},
       "split_rows(i, 2, c, r); split(c, 4, cb, ct); bind(cb, block); bind(ct, thread)"},
  };
}

}  // namespace tulle::differential
