// Eigen's product of a CSR matrix and a row-major dense matrix, float32 and int32, behind a C entry
// point.
#include <cstdint>

#include <Eigen/Core>
#include <Eigen/SparseCore>

extern "C" __attribute__((visibility("default"))) void eigen_spmm(
    int64_t rows, int64_t columns, const int32_t* pos, const int32_t* crd, const float* values,
    const float* b, float* c, int width, int threads) {
  using Sparse = Eigen::SparseMatrix<float, Eigen::RowMajor, int32_t>;
  using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::setNbThreads(threads);
  const Eigen::Map<const Sparse> left(rows, columns, pos[rows], pos, crd, values);
  const Eigen::Map<const Dense, Eigen::Aligned64> right(b, columns, width);
  Eigen::Map<Dense, Eigen::Aligned64> result(c, rows, width);
  result.noalias() = left * right;
}
