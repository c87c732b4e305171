// The hand-written twin: C = A B for CSR A and row-major dense B and C, with float32 values and
// int32 indices, in AVX-512 intrinsics.
//
// A row of C stays in vector registers until it is complete. The loop processes two entries of A
// per iteration. It can prefetch the rows of B for later entries into the L2 cache. Widths are
// multiples of 16 up to 256.
#include <algorithm>
#include <array>
#include <cstdint>
#include <immintrin.h>
#include <omp.h>
#include <utility>

namespace {

constexpr int kLanes = 16;       // floats per register, and per cache line
constexpr int kMaxVectors = 16;  // vector accumulators per row

struct Csr {
  int64_t rows;
  const int32_t* pos;
  const int32_t* crd;
  const float* values;
};

// The prefetch distance in entries: 128 cache lines, but at least 8 entries.
constexpr int64_t fetch_distance(int vectors) { return std::max(8, 2048 / (kLanes * vectors)); }

template <int Vectors>
const float* row_of(const float* b, int32_t column) {
  return b + static_cast<uint64_t>(static_cast<uint32_t>(column)) * (kLanes * Vectors);
}

template <int Vectors, bool Fetch>
inline __attribute__((always_inline)) void add_entry(__m512 (&sum)[Vectors], Csr a, const float* b,
                                                     int64_t at, int64_t last) {
  if constexpr (Fetch) {
    const float* later = row_of<Vectors>(b, a.crd[std::min(at + fetch_distance(Vectors), last)]);
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v)
      _mm_prefetch(reinterpret_cast<const char*>(later + v * kLanes), _MM_HINT_T1);
  }
  const __m512 scale = _mm512_set1_ps(a.values[at]);
  const float* row = row_of<Vectors>(b, a.crd[at]);
#pragma GCC unroll 16
  for (int v = 0; v < Vectors; ++v)
    sum[v] = _mm512_fmadd_ps(scale, _mm512_loadu_ps(row + v * kLanes), sum[v]);
}

// Computes rows [first, end) of C. Streaming stores bypass the caches and require C to be aligned
// to 64 bytes.
template <int Vectors, bool Fetch, bool Stream>
void multiply_rows(Csr a, const float* b, float* c, int64_t first, int64_t end) {
  const int64_t last = int64_t{a.pos[a.rows]} - 1;
  int64_t start = a.pos[first];
  for (int64_t i = first; i < end; ++i) {
    const int64_t stop = a.pos[i + 1];
    const int64_t paired = start + ((stop - start) & ~int64_t{1});
    __m512 sum[Vectors];
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) sum[v] = _mm512_setzero_ps();
    for (int64_t at = start; at < paired; at += 2) {
      add_entry<Vectors, Fetch>(sum, a, b, at, last);
      add_entry<Vectors, Fetch>(sum, a, b, at + 1, last);
    }
    if (paired < stop) add_entry<Vectors, Fetch>(sum, a, b, paired, last);
    float* out = c + i * (kLanes * Vectors);
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) {
      if constexpr (Stream)
        _mm512_stream_ps(out + v * kLanes, sum[v]);
      else
        _mm512_storeu_ps(out + v * kLanes, sum[v]);
    }
    start = stop;
  }
  if constexpr (Stream) _mm_sfence();
}

using Kernel = void (*)(Csr, const float*, float*, int64_t, int64_t);

template <bool Fetch, bool Stream, int... Index>
constexpr std::array<Kernel, kMaxVectors> kernels(std::integer_sequence<int, Index...>) {
  return {multiply_rows<Index + 1, Fetch, Stream>...};
}

template <bool Fetch, bool Stream>
constexpr auto kKernels = kernels<Fetch, Stream>(std::make_integer_sequence<int, kMaxVectors>{});

Kernel kernel_for(int vectors, bool fetch, bool stream) {
  const auto& table = fetch ? (stream ? kKernels<true, true> : kKernels<true, false>)
                            : (stream ? kKernels<false, true> : kKernels<false, false>);
  return table[vectors - 1];
}

// The first row of a chunk. All chunks have equal numbers of rows plus entries.
int64_t chunk_start(const Csr& a, int chunk, int chunks) {
  const int64_t wanted = (a.rows + a.pos[a.rows]) * chunk / chunks;
  int64_t low = 0;
  int64_t high = a.rows;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (middle + a.pos[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace

// Returns 0, or 1 if the twin does not support the width or the alignment.
extern "C" __attribute__((visibility("default"))) int twin_spmm(int64_t rows, const int32_t* pos,
                                                                const int32_t* crd,
                                                                const float* values, const float* b,
                                                                float* c, int width, int fetch,
                                                                int stream, int threads) {
  if (width < kLanes || width > kLanes * kMaxVectors || width % kLanes != 0) return 1;
  if (stream != 0 && reinterpret_cast<uintptr_t>(c) % 64 != 0) return 1;
  const Csr a{rows, pos, crd, values};
  const Kernel kernel = kernel_for(width / kLanes, fetch != 0, stream != 0);
  if (threads == 1) {
    kernel(a, b, c, 0, rows);
    return 0;
  }
#pragma omp parallel num_threads(threads)
  {
    const int team = omp_get_num_threads();
    const int me = omp_get_thread_num();
    kernel(a, b, c, chunk_start(a, me, team), chunk_start(a, me + 1, team));
  }
  return 0;
}
