// The list of statements. Each is planned for many entries, for few, and with one order of sums, if
// these plans differ.
#include "differential/default_plans.h"

#include "differential/bound_schedules.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

// The situations in which a statement is planned.
enum For : int {
  kMany = 1,      // rows are cut, results exceed the cache
  kFew = 2,       // the small operands as they are
  kOneOrder = 4,  // one order of sums
  kAll = 7
};

struct Statement {
  std::string name;
  std::string text;
  std::vector<Operand> operands;
  int plans = kMany | kFew;
  std::map<std::string, std::string> out_formats = {};
  std::string schedule = {};
};

constexpr int kMultiprocessors = 2, kThreads = 64;
const std::vector<DType> kOtherTypes = {DType::Float64, DType::Float16, DType::BFloat16};

Operand csr(std::vector<int64_t> sizes, double density = 0.3) {
  Operand operand = sparse("csr", std::move(sizes));
  operand.density = density;
  return operand;
}

// Some rows are empty, and the others have different lengths.
Operand uneven(Operand operand) {
  operand.spread = Spread::EmptyRows;
  return operand;
}

// Promises the program that no row has more entries than the operand has columns.
Operand bounded(Operand operand) {
  operand.longest_row = operand.sizes.back();
  return operand;
}

Operand other(const char* name, const char* format, std::vector<int64_t> sizes) {
  Operand operand = sparse(format, std::move(sizes));
  operand.name = name;
  return operand;
}

// --- in all floating types: products with dense matrices and vectors, at entries, attention,
// reductions and sums ---

const std::string kSpmm = "C[i,k] = A[i,j] * B[j,k]", kSpmv = "y[i] = A[i,j] * x[j]",
                  kSddmm = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
                  kAttention = "O[i,d] = softmax(j in A[i,j], sum(k, Q[i,k] * K[j,k])) * V[j,d]",
                  kHeads =
                      "O[i,h,d] = softmax(j in A[i,j], sum(k, Q[i,h,k] * K[j,h,k])) * V[j,h,d]";

std::vector<Operand> for_spmm(Operand matrix, int64_t width) {
  const int64_t columns = matrix.sizes[1];
  return {std::move(matrix), dense("B", {columns, width})};
}
std::vector<Operand> for_spmv(Operand matrix) {
  const int64_t columns = matrix.sizes[1];
  return {std::move(matrix), dense("x", {columns})};
}
std::vector<Operand> for_sddmm(Operand matrix, int64_t width) {
  const int64_t rows = matrix.sizes[0], columns = matrix.sizes[1];
  return {std::move(matrix), dense("Q", {rows, width}), dense("K", {columns, width})};
}
std::vector<Operand> for_attention(Operand matrix, int64_t width, int64_t out) {
  std::vector<Operand> operands = for_sddmm(std::move(matrix), width);
  operands.push_back(dense("V", {operands[0].sizes[1], out}));
  return operands;
}
std::vector<Operand> for_heads(Operand matrix, int64_t heads, int64_t width) {
  const int64_t rows = matrix.sizes[0], columns = matrix.sizes[1];
  return {std::move(matrix), dense("Q", {rows, heads, width}), dense("K", {columns, heads, width}),
          dense("V", {columns, heads, width})};
}

std::vector<Statement> of_all_types() {
  return {
      {"Spmm", kSpmm, for_spmm(uneven(csr({37, 60})), 128), kAll},
      {"SpmmNarrow", kSpmm, for_spmm(uneven(csr({37, 60})), 16)},
      {"SpmmTail", kSpmm, for_spmm(csr({37, 40}), 6)},
      {"Sddmm", kSddmm, for_sddmm(uneven(csr({37, 60})), 64)},
      {"SddmmOfLongRows", kSddmm, for_sddmm(csr({5, 300}, 0.6), 32), kMany},
      {"Attention", kAttention, for_attention(uneven(csr({13, 40})), 16, 16)},
      {"EightHeads", kHeads, for_heads(uneven(csr({7, 30})), 8, 16)},
      {"Spmv", kSpmv, for_spmv(uneven(csr({250, 60}, 0.2))), kAll},
      {"RowSums", "y[i] = sum(j, A[i,j])", {uneven(csr({37, 60}))}},
      {"RowMaxima", "y[i] = max(j in A[i,j], A[i,j])", {uneven(csr({37, 60}))}},
      {"ColumnMaxima", "y[j] = max(i, A[i,j])", {uneven(csr({37, 60}))}, kAll},
      {"SumOfAll", "s = A[i,j]", {csr({90, 100}, 0.6)}, kAll},
      {"Added", "C[i,j] = A[i,j] + B[i,j]", {csr({37, 20}), other("B", "csr", {37, 20})}},
  };
}

// --- in f32 ---

std::vector<Statement> products() {
  return {
      {"SpmmPairs", kSpmm, for_spmm(csr({7, 45}), 256), kFew},
      {"SpmmPanels", kSpmm, for_spmm(csr({7, 45}), 300)},
      {"SpmmOddColumns", kSpmm, for_spmm(csr({7, 45}), 33)},
      {"SpmmAnyWidth", kSpmm, for_spmm(csr({5, 9}), 1100)},
      {"SpmmForTheCache", kSpmm, for_spmm(csr({34, 60}, 0.6), 128), kMany},
      {"SpmmBounded", kSpmm, for_spmm(bounded(csr({37, 60})), 16), kMany},
      {"SpmmLongRows", kSpmm, for_spmm(csr({5, 400}, 0.8), 16), kMany},
      {"SpmmLongRowsInPanels", kSpmm, for_spmm(csr({24, 400}, 0.7), 64), kMany},
      {"SpmmLongRowsOddColumns", kSpmm, for_spmm(csr({5, 400}, 0.8), 1), kMany},
      {"SpmmOneColumn", kSpmm, for_spmm(csr({37, 60}), 1)},
      {"SpmmOneRow", kSpmm, for_spmm(csr({1, 60}), 20)},
      {"SpmmNumberedRows", kSpmm, for_spmm(uneven(sparse("dcsr", {37, 60})), 32)},
      {"SpmmPieces", kSpmm, for_spmm(sparse("pieces(4)", {37, 60}), 32)},
      {"SpmmEll", kSpmm, for_spmm(sparse("ell(21)", {37, 21}), 32)},
      {"SpmmBlocks", kSpmm, for_spmm(sparse("bsr(4,4)", {36, 20}), 32)},
      {"SpmmCoo", kSpmm, for_spmm(sparse("coo", {37, 20}), 32), kAll},
      {"SpmmCsc", kSpmm, for_spmm(sparse("csc", {37, 60}), 64), kAll},
      {"SpmmCscPanels", kSpmm, for_spmm(sparse("csc", {9, 20}), 300)},
      {"SpmmCscOddColumns", kSpmm, for_spmm(sparse("csc", {9, 20}), 3)},
      {"SpmvLongRows", kSpmv, for_spmv(csr({13, 150}, 0.6)), kAll},
      {"SpmvEll", kSpmv, for_spmv(sparse("ell(9)", {53, 9}))},
      {"SpmvDcsr", kSpmv, for_spmv(uneven(sparse("dcsr", {53, 30})))},
      {"SpmmDia", kSpmm, for_spmm(sparse("dia", {53, 30}), 32)},
      {"SpmvDia", kSpmv, for_spmv(sparse("dia", {53, 30}))},
      {"SddmmDia", kSddmm, for_sddmm(sparse("dia", {53, 30}), 20)},
      {"SddmmDiaHandedOn", kSddmm, for_sddmm(sparse("dia", {53, 30}), 64)},
      {"SpmvCsc", kSpmv, for_spmv(sparse("csc", {53, 30})), kAll},
      {"SpmvBlocks", kSpmv, for_spmv(sparse("bsr(4,4)", {36, 20}))},
      {"SddmmOddSum", kSddmm, for_sddmm(csr({13, 60}), 7)},
      {"SddmmSteps", kSddmm, for_sddmm(csr({13, 20}), 600)},
      {"SddmmEll", kSddmm, for_sddmm(sparse("ell(21)", {37, 21}), 20)},
      {"SddmmCutRows", kSddmm, for_sddmm(csr({12, 300}, 0.6), 64)},
      {"SddmmInPanels", kSddmm, for_sddmm(csr({30, 200}, 0.7), 64), kMany | kOneOrder},
      {"SddmmGathered", "S[i,j] = A[i,j] * abs(sum(d, Q[i,d] * K[j,d]) - 1)",
       for_sddmm(csr({13, 60}), 20)},
      {"SddmmGatheredLongRows", "S[i,j] = A[i,j] * abs(sum(d, Q[i,d] * K[j,d]) - 1)",
       for_sddmm(csr({5, 300}, 0.6), 20)},
      {"AttentionOfManyEntries", kAttention, for_attention(csr({30, 90}, 0.6), 8, 8), kMany},
      {"AttentionWide", kAttention, for_attention(csr({6, 8}), 516, 129), kFew},
      {"AttentionOdd", kAttention, for_attention(csr({13, 40}), 7, 5)},
      {"Mttkrp",
       "M[i,r] = T[i,j,k] * B[j,r] * C[k,r]",
       {other("T", "csf", {9, 7, 8}), dense("B", {7, 20}), dense("C", {8, 20})},
       kAll},
      {"MttkrpOfTheLast",
       "M[k,r] = T[i,j,k] * B[j,r] * C[i,r]",
       {other("T", "csf", {600, 3, 4}), dense("B", {3, 128}), dense("C", {600, 128})},
       kAll},
      {"DenseProduct", "C[i,k] = X[i,j] * Y[j,k]", {dense("X", {9, 20}), dense("Y", {20, 33})}},
  };
}

std::vector<Statement> reductions() {
  const Operand rows = uneven(csr({37, 60})), many = csr({30, 100}, 0.6);
  return {
      {"RowMaximaOfAll", "y[i] = max(j, A[i,j])", {rows}},
      {"RowMeans", "y[i] = mean(j in A[i,j], A[i,j])", {rows}},
      {"RowArgmax", "y[i] = argmax(j in A[i,j], A[i,j])", {rows}},
      {"RowArgmaxOfMany", "y[i] = argmax(j in A[i,j], A[i,j])", {many}, kMany},
      {"RowArgmaxOfAll", "y[i] = argmax(j, A[i,j])", {rows}},
      {"ColumnArgminOfAll", "y[j] = argmin(i, A[i,j])", {many}},
      {"SegmentArgmaxOfAll", "C[i,k] = argmax(j, A[i,j] * B[j,k])", for_spmm(rows, 20)},
      {"RowLogsumexp", "y[i] = logsumexp(j in A[i,j], A[i,j])", {rows}},
      {"RowSoftmax", "C[i,j] = softmax(j in A[i,j], A[i,j])", {rows}},
      {"SegmentSums", "C[i,k] = sum(j in A[i,j], B[j,k])", for_spmm(rows, 20), kAll},
      {"SegmentMaxima", "C[i,k] = max(j in A[i,j], B[j,k])", for_spmm(rows, 20)},
      {"SegmentMeans", "C[i,k] = mean(j in A[i,j], B[j,k])", for_spmm(rows, 20)},
      {"SegmentArgmax", "C[i,k] = argmax(j in A[i,j], B[j,k])", for_spmm(rows, 20)},
      {"SegmentLogsumexp", "C[i,k] = logsumexp(j in A[i,j], A[i,j] * B[j,k])", for_spmm(rows, 20)},
      {"WeightedSoftmax",
       "O[i,d] = softmax(j in A[i,j], A[i,j]) * V[j,d]",
       {rows, dense("V", {60, 20})}},
      {"DenseLogsumexp", "y[i] = logsumexp(j, X[i,j])", {dense("X", {13, 70})}},
      {"DenseSoftmax", "C[i,j] = softmax(j, X[i,j])", {dense("X", {13, 70})}},
      {"ColumnSums", "y[j] = sum(i, A[i,j])", {rows}, kAll},
      {"ColumnSumsOfDense", "y[j] = X[i,j]", {dense("X", {70, 33})}, kAll},
      {"PlaneSums", "C[j,k] = X[i,j,k]", {dense("X", {600, 3, 128})}, kAll},
      {"SumOfDense", "s = X[i,j]", {dense("X", {37, 40})}, kAll},
      {"InnerProduct", "s = x[i] * y[i]", {dense("x", {5000}), dense("y", {5000})}, kAll},
      {"MaximumOfAll", "s = max((i,j), A[i,j])", {rows}, kAll},
      {"MeanOfAll", "s = mean((i,j), A[i,j])", {rows}, kAll},
      {"ActivatedProduct", "C[i,k] = relu(sum(j, A[i,j] * B[j,k]))", for_spmm(rows, 20), kAll},
      {"NormalisedProduct",
       "C[i,k] = sum(j, A[i,j] * B[j,k]) / d[i]",
       {rows, dense("B", {60, 20}), dense("d", {37})},
       kAll},
      {"QuotientOfNothing", "y[i] = 1 / -sum(j, A[i,j])", {rows}},
      {"ListedRowSums", "y[i] = sum(j, A[i,j])", {sparse("coo", {37, 20})}, kAll},
      {"ListedSampledProduct", kSddmm, for_sddmm(sparse("coo", {13, 20}), 16)},
      {"ProductOfAll", "s = prod((i,j) in A[i,j], A[i,j])", {csr({9, 7})}, kAll},
      {"ColumnMinima", "y[j] = min(i in A[i,j], A[i,j])", {rows}, kAll},
      {"ColumnMeans", "y[j] = mean(i, A[i,j])", {rows}, kAll},
      {"SegmentMaximaOfColumns",
       "C[j,k] = max(i in A[i,j], A[i,j] * X[i,k])",
       {rows, dense("X", {37, 20})},
       kAll},
      {"SumOfCube",
       "s = T[i,j,k] * x[i]",
       {other("T", "csf", {140, 5, 6}), dense("x", {140})},
       kAll},
  };
}

std::vector<Statement> elementwise_and_assembled() {
  return {
      {"Scaled", "C[i,j] = A[i,j] * d[i]", {uneven(csr({37, 60})), dense("d", {37})}},
      {"ScaledLongRows", "C[i,j] = A[i,j] * d[i]", {csr({9, 150}, 0.6), dense("d", {9})}},
      {"Function", "C[i,j] = relu(A[i,j])", {csr({37, 60})}},
      {"Vectors", "z[i] = x[i] + y[i]", {dense("x", {300}), dense("y", {300})}},
      {"Matrices", "C[i,j] = X[i,j] + Y[i,j]", {dense("X", {13, 33}), dense("Y", {13, 33})}},
      {"MatricesOfVectors",
       "C[i,j] = X[i,j] + Y[i,j]",
       {dense("X", {13, 200}), dense("Y", {13, 200})}},
      {"AddedBlocks",
       "C[i,j] = A[i,j] + B[i,j]",
       {sparse("bsr(2,3)", {18, 15}), other("B", "bsr(2,3)", {18, 15})}},
      {"AddedCoo",
       "C[i,j] = A[i,j] + B[i,j]",
       {sparse("coo", {37, 20}), other("B", "csr", {37, 20})}},
      {"AddedCsc", "C[i,j] = A[i,j] + B[i,j]", {csr({37, 20}), other("B", "csc", {37, 20})}},
      {"Multiplied", "C[i,j] = A[i,j] * B[i,j]", {csr({37, 20}), other("B", "csr", {37, 20})}},
      {"Spgemm", "C[i,k] = A[i,j] * B[j,k]", {csr({37, 20}), other("B", "csr", {20, 30})}},
      {"SpgemmCsc",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csc", {37, 20}), other("B", "csc", {20, 30})}},
      {"SpgemmCoo",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("coo", {37, 20}), other("B", "coo", {20, 30})}},
      {"SpgemmBlocks",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(2,4)", {13, 20}), other("B", "bsr(4,3)", {20, 30})}},
      {"SpgemmManyBlocks",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("bsr(2,4)", {90, 20}), other("B", "bsr(4,2)", {20, 30})}},
      {"OuterSpgemm",
       "C[i,k] = A[i,j] * B[j,k]",
       {sparse("csc", {37, 20}), other("B", "csr", {20, 30})}},
      {"Transposed", "C[i,j] = A[j,i]", {csr({37, 20})}},
      {"CsrToCoo", "C[i,j] = A[i,j]", {uneven(csr({37, 20}))}, kFew, {{"C", "coo"}}},
      {"CsrToCsc", "C[i,j] = A[i,j]", {uneven(csr({37, 20}))}, kFew, {{"C", "csc"}}},
      {"CsrToDense", "C[i,j] = A[i,j]", {csr({37, 20})}, kFew, {{"C", "dense"}}},
      {"CooToCsr", "C[i,j] = A[i,j]", {sparse("coo", {37, 20})}, kFew, {{"C", "csr"}}},
      {"CooToCsc", "C[i,j] = A[i,j]", {sparse("coo", {37, 20})}, kFew, {{"C", "csc"}}},
      {"CscToCsr", "C[i,j] = A[i,j]", {sparse("csc", {37, 20})}, kFew, {{"C", "csr"}}},
      {"CscToCoo", "C[i,j] = A[i,j]", {sparse("csc", {37, 20})}, kFew, {{"C", "coo"}}},
      {"CooToDia", "C[i,j] = A[i,j]", {sparse("coo", {13, 20})}, kFew, {{"C", "dia"}}},
      {"CooToPieces", "C[i,j] = A[i,j]", {sparse("coo", {37, 20})}, kFew, {{"C", "pieces(2)"}}},
      {"CooToDell", "C[i,j] = A[i,j]", {sparse("coo", {37, 20})}, kFew, {{"C", "dell(20)"}}},
      {"DenseToCsr", "C[i,j] = X[i,j]", {dense("X", {13, 33})}, kFew, {{"C", "csr"}}},
      {"CsrToBlocks", "C[i,j] = A[i,j]", {csr({36, 20})}, kFew, {{"C", "bsr(4,4)"}}},
      {"CsrToEll", "C[i,j] = A[i,j]", {csr({37, 20})}, kFew, {{"C", "ell(20)"}}},
  };
}

constexpr const char* kHyb = "hyb(2,1)";
constexpr const char* kBand = "{ band(-2,2): dia; rest: csr }";
constexpr const char* kBlocks = "{ blocks(2,2, fill>=0.75): bsr(2,2); rest: csr }";

std::vector<Statement> composites() {
  std::vector<Statement> all;
  const auto operand = [](const char* format) { return sparse(format, {36, 60}); };
  for (const auto& [name, format] :
       {std::pair{"Hyb", kHyb}, {"Band", kBand}, {"Blocks", kBlocks}}) {
    const std::string of = name;
    all.push_back({of + "Spmm", kSpmm, for_spmm(operand(format), 32), kAll});
    all.push_back({of + "Spmv", kSpmv, for_spmv(operand(format))});
    all.push_back({of + "Sddmm", kSddmm, for_sddmm(operand(format), 20)});
    all.push_back({of + "Attention", kAttention, for_attention(operand(format), 8, 8), kMany});
    all.push_back({of + "RowSums", "y[i] = sum(j, A[i,j])", {operand(format)}, kMany});
    all.push_back({of + "Built",
                   kSpmm,
                   for_spmm(csr({36, 60}), 4),
                   kMany,
                   {},
                   concat("decompose(A, ", format, ")")});
  }
  return all;
}

Case case_of(const Statement& statement, For plan, DType type) {
  Case test{.text = statement.text, .operands = statement.operands};
  for (Operand& operand : test.operands) operand.type = type;
  test.out_formats = statement.out_formats;
  test.schedule = statement.schedule;
  test.seed = 1;
  test.threads = kThreads;
  test.gpu = true;
  test.small_chunks = plan == kMany;
  test.multiprocessors = kMultiprocessors;
  test.deterministic = plan == kOneOrder;
  return test;
}

void add(const std::vector<Statement>& statements, DType type, std::vector<Planned>& all) {
  const std::string of_type = type == DType::Float32 ? "" : concat("_", name_of(type));
  for (const Statement& statement : statements) {
    for (const auto& [plan, word] :
         {std::pair{kMany, "Many"}, {kFew, "Few"}, {kOneOrder, "OneOrder"}}) {
      if (statement.plans & plan)
        all.push_back({concat(statement.name, "_", word, of_type), case_of(statement, plan, type)});
    }
  }
}

}  // namespace

const std::vector<Planned>& default_plans() {
  static const std::vector<Planned> plans = [] {
    std::vector<Planned> all;
    add(of_all_types(), DType::Float32, all);
    for (const DType type : kOtherTypes) add(of_all_types(), type, all);
    for (const auto& statements :
         {products(), reductions(), elementwise_and_assembled(), composites()})
      add(statements, DType::Float32, all);
    return all;
  }();
  return plans;
}

const std::vector<const char*>& built_formats() {
  static const std::vector<const char*> formats = {kHyb, kBand, kBlocks};
  return formats;
}

}  // namespace tulle::differential
