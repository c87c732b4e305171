// Programs of shapes that random draws would rarely give.
#include "differential/random_case.h"
#include "support/check.h"

namespace tulle::differential {

void multiply_rows(Dice& dice, DType type, DType index_type, Case& test) {
  const int64_t rows = dice.between(1, 9), columns = dice.between(1, 40),
                width = dice.pick<int64_t>({1, 3, 4, 16, 32, 50});
  const std::string format =
      dice.chance(0.7)   ? "csr"
      : dice.chance(0.5) ? dice.pick<std::string>({"dcsr", "pieces(2)", "hyb(1,1)", "hyb(2,2)"})
                         : random_format(dice, 2, false);
  const auto operand = [&](const char* name, std::vector<int64_t> sizes) {
    return Operand{.name = name, .sizes = std::move(sizes), .type = type, .index_type = index_type};
  };
  test.out_formats.clear();
  test.operands = {operand("A", {rows, columns})};
  test.operands[0].format = format;
  test.operands[0].density = dice.pick<double>({0.1, 0.3, 0.9});
  const bool is_float = type == DType::Float32 || type == DType::Float64;
  switch (dice.below(is_float ? 8 : 4)) {
    case 4:
      test.text = "R0[i] = argmax(j in A[i,j], A[i,j] * B[j])";
      test.operands.push_back(operand("B", {columns}));
      break;
    case 5:
      test.text = "R0[i] = logsumexp(j in A[i,j], A[i,j])";
      break;
    case 6:
      test.text = "R0[i,k] = softmax(j in A[i,j], A[i,j]) * B[j,k]";
      test.operands.push_back(operand("B", {columns, width}));
      break;
    case 7:
      test.text = "R0[i,k] = softmax(j in A[i,j], sum(l, B[i,l] * C[j,l])) * D[j,k]";
      test.operands.push_back(operand("B", {rows, 6}));
      test.operands.push_back(operand("C", {columns, 6}));
      test.operands.push_back(operand("D", {columns, std::min<int64_t>(width, 16)}));
      break;
    case 0:
      test.text = "R0[i] = A[i,j] * B[j]";
      test.operands.push_back(operand("B", {columns}));
      break;
    case 1:
      test.text = "R0[i,k] = A[i,j] * B[j,k]";
      test.operands.push_back(operand("B", {columns, width}));
      break;
    case 2:  // into a sparse result
      test.text = "R0[i,k] = A[i,j] * B[j,k]";
      test.operands.push_back(operand("B", {columns, width}));
      test.operands[1].format = "csr";
      break;
    default:
      test.text = "R0[i,j] = A[i,j] * B[i,k] * C[j,k]";
      test.operands.push_back(operand("B", {rows, width}));
      test.operands.push_back(operand("C", {columns, width}));
  }
}

// Chunks that begin and end inside rows append entries to a result.
void append_cut_rows(Dice& dice, DType type, DType index_type, Case& test) {
  const int64_t rows = dice.between(1, 9), columns = dice.between(1, 40);
  test.text = dice.pick<std::string>(
      {"R0[i,j] = A[i,j] * B[i]", "R0[i,j] = A[i,j] + B[i,j]", "R0[i,j] = A[i,j] * B[i,j]"});
  const bool walks_both = test.text.ends_with("B[i,j]");
  test.operands = {{.name = "A",
                    .format = walks_both ? "csr" : dice.pick<std::string>({"csr", "coo"}),
                    .sizes = {rows, columns},
                    .density = dice.pick<double>({0.1, 0.3, 0.9}),
                    .type = type,
                    .index_type = index_type},
                   {.name = "B", .format = "dense", .sizes = {rows}, .type = type}};
  if (walks_both) {
    test.operands[1] = test.operands[0];
    test.operands[1].name = "B";
  }
  test.out_formats["R0"] = dice.pick<std::string>({"csr", "coo", "csc"});
  test.schedule = "parallel(i, by=merge)";
}

void cut_rows(Dice& dice, DType type, DType index_type, Case& test) {
  test = {.seed = test.seed, .threads = dice.pick<int>({2, 3, 5, 8})};
  if (dice.chance(0.3)) return append_cut_rows(dice, type, index_type, test);
  multiply_rows(dice, type, index_type, test);
  for (Operand& operand : test.operands) operand.format = "dense";
  test.operands[0].format = "csr";
  const bool gathers = test.text.find("j in") != std::string::npos;  // in the original nest
  const bool sums = !gathers && test.text.find("R0[i,j]") == std::string::npos;
  const bool columns = test.text.starts_with("R0[i,k]");
  if (sums) test.schedule = columns ? "precompute(acc, k); " : "precompute(acc); ";
  test.schedule += "parallel(i, by=merge)";
}

namespace {

// Blocks with that many rows and columns, sometimes with a sparse level inside.
std::string block_format(Dice& dice, int64_t rows, int64_t columns) {
  if (dice.chance(0.6)) {
    const auto name = dice.pick<std::string>({"bsr", "bsr", "bsr", "bsc", "dbsr"});
    return concat(name, "(", rows, ",", columns, ")");
  }
  const std::string above = dice.chance(0.7) ? "dense" : "compressed";
  std::vector<std::string> insides = {concat("i%", rows, ": "), concat("j%", columns, ": ")};
  dice.shuffle(insides);
  const std::string last = dice.chance(0.7) ? "compressed" : "dense";
  return concat("(i,j) -> (i/", rows, ": ", above, ", j/", columns, ": compressed, ", insides[0],
                last == "dense" ? "compressed" : "dense", ", ", insides[1], last, ")");
}

}  // namespace

void share_blocks(Dice& dice, DType type, DType index_type, Case& test) {
  const int64_t rows = dice.between(1, 4), columns = dice.between(1, 4), inner = dice.between(1, 3);
  const int64_t height = dice.between(1, 20), width = dice.between(1, 20),
                depth = dice.between(1, 12);
  test = {.seed = test.seed, .threads = dice.pick<int>({2, 5, 20, 200}), .gpu = true};
  const auto operand = [&](const char* name, const std::string& format,
                           std::vector<int64_t> sizes) {
    return Operand{.name = name,
                   .format = format,
                   .sizes = std::move(sizes),
                   .density = dice.pick<double>({0.1, 0.3, 0.6}),
                   .type = type,
                   .index_type = index_type,
                   .explicit_zeros = dice.chance(0.1)};
  };
  const std::string result = concat("bsr(", rows, ",", columns, ")");
  switch (dice.below(7)) {
    case 0:
      test.text = dice.pick<std::string>({"R0[i,j] = A[i,j] + B[i,j]", "R0[i,j] = A[i,j] * B[i,j]",
                                          "R0[i,j] = within(A[i,j], B[i,j])"});
      test.operands = {operand("A", block_format(dice, rows, columns), {height, width}),
                       operand("B", block_format(dice, rows, columns), {height, width})};
      if (dice.chance(0.5)) test.out_formats["R0"] = result;
      break;
    case 1:  // into rows of a dense result
      test.text = "R0[i,j,k] = A[i,j] * B[j,k]";
      test.operands = {
          operand("A", dice.pick<std::string>({"csr", "coo", "dcsr"}), {height, depth}),
          operand("B", "dense", {depth, dice.between(1, 9)})};
      test.out_formats["R0"] = "(i,j,k) -> (i: dense, j: compressed, k: dense)";
      break;
    default:
      test.text = "R0[i,j] = A[i,k] * B[k,j]";
      test.operands = {operand("A", block_format(dice, rows, inner), {height, depth}),
                       operand("B", block_format(dice, inner, columns), {depth, width})};
      if (dice.chance(0.6)) test.out_formats["R0"] = result;
  }
  if (dice.chance(0.75)) test.schedule = random_schedule(dice, test);
}

void apply_to_sums(Dice& dice, DType type, DType index_type, Case& test) {
  const int64_t rows = dice.between(1, 9), columns = dice.between(2, 20);
  const auto function = dice.pick<std::string>({"neg", "relu", "square", "abs"});
  test = {.text = concat("R0[i] = ", function, "(sum(j, A[i,j] * B[j]))"),
          .seed = test.seed,
          .threads = test.threads};
  test.operands = {{.name = "A",
                    .format = random_composite(dice, 2),
                    .sizes = {rows, columns},
                    .density = 0.5,
                    .type = type,
                    .index_type = index_type},
                   {.name = "B", .sizes = {columns}, .type = type}};
  if (dice.chance(0.6)) return;
  test.text =
      dice.chance(0.5) ? "R0[i] = sum(j, A[i,j] / B[j])" : "R0[i] = sum(j, within(A[i,j], B[j]))";
  test.schedule = concat("decompose(A, ", test.operands[0].format, ")");
  test.operands[0].format = "csr";
  test.operands[1].format = random_format(dice, 1, false);
}

void reduce_sums(Dice& dice, DType index_type, Case& test) {
  const int64_t rows = dice.between(1, 8), columns = dice.between(1, 8), inner = dice.between(1, 5);
  const std::string sum = "sum(k, A[i,k] * B[k,j])";
  const std::string body = dice.pick<std::string>(
      {sum, sum + " * E[i,j]", "E[i,j] - " + sum, concat("within(", sum, ", E[i,j])"),
       concat("max(", sum, ", E[i,j])"), concat("within(E[i,j], ", sum, ")"), sum + " / E[i,j]"});
  // Quotients are rounded, so different values may become equal.
  const bool divides = body.ends_with("/ E[i,j]");
  const std::string op = divides ? dice.pick<std::string>({"logsumexp", "max"})
                                 : dice.pick<std::string>({"argmax", "argmin", "logsumexp"});
  const std::string over = dice.pick<std::string>({"j", "j stored", "j in E[i,j]"});
  const std::string value = dice.chance(0.2) ? concat("softmax(", over, ", ", body, ")")
                                             : concat(op, "(", over, ", ", body, ")");
  const std::string left = value.starts_with("softmax") ? "R0[i,j]" : "R0[i]";
  const bool scaled = dice.chance(0.3);
  test = {.text = concat(left, " = ", value, scaled ? " * x[i]" : ""),
          .seed = test.seed,
          .threads = test.threads,
          .small_chunks = test.small_chunks,
          .gpu = test.gpu};
  const auto add = [&](const char* name, std::vector<int64_t> sizes) {
    const int rank = static_cast<int>(sizes.size());
    test.operands.push_back({.name = name,
                             .format = rank == 2 && dice.chance(0.1)
                                           ? random_composite(dice, rank)
                                           : random_format(dice, rank, false),
                             .sizes = std::move(sizes),
                             .density = dice.pick<double>({0.1, 0.2, 0.5}),
                             .type = DType::Float64,
                             .index_type = index_type,
                             .explicit_zeros = dice.chance(0.3)});
  };
  add("A", {rows, inner});
  add("B", {inner, columns});
  if (test.text.find('E') != std::string::npos) add("E", {rows, columns});
  if (scaled) add("x", {rows});
  if (dice.chance(0.3)) test.schedule = random_schedule(dice, test);
}

}  // namespace tulle::differential
