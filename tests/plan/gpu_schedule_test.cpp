// Tests of the rules for GPU schedules.
#include <gtest/gtest.h>

#include "plan/plan.h"

namespace tulle::plan {
namespace {

struct Product {
  int64_t rows = 100000, entries = 1000000, width = 128;
  bool deterministic = false;
};

Request request_for_gpu(const UniqueProgram& program) {
  Request request;
  request.program = &program;
  request.machine.backend = Backend::Gpu;
  request.machine.multiprocessors = 132;
  request.machine.vector_bytes = 16;
  request.machine.last_cache = 50 << 20;
  return request;
}

// The schedule of CSR times dense.
std::string schedule_of(const Product& product) {
  const std::map<std::string, expr::TensorType> types = {
      {"A", {DType::Float32, DType::Int32, Format::parse("csr", 2)}},
      {"B", {DType::Float32, DType::Int64, Format::dense(2)}}};
  const UniqueProgram program =
      with_unique_indices(expr::resolve(expr::parse_program("C[i,k] = A[i,j] * B[j,k]"), types));
  Request request = request_for_gpu(program);
  request.statistics["A"] = {{product.rows, product.rows}, product.entries};
  request.statistics["B"] = {{product.rows, product.width}, product.rows * product.width};
  request.known_extents["k"] = product.width;
  request.machine.deterministic = product.deterministic;
  return to_string(std::get<schedule::ScheduledNest>(make_plan(request).steps.at(0)).schedule);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(GpuSchedule, CutsRowsWhereThereAreManyEntries) {
  EXPECT_TRUE(has(schedule_of({}), "deal_rows("));
  EXPECT_FALSE(has(schedule_of({.rows = 200, .entries = 1000}), "deal_rows("));
}

TEST(GpuSchedule, CutsNoSumsThatMustHaveOneOrder) {
  const std::string schedule = schedule_of({.deterministic = true});
  EXPECT_FALSE(has(schedule, "deal_rows(")) << schedule;
  EXPECT_TRUE(has(schedule, "bind(")) << schedule;
}

TEST(GpuSchedule, TakesSeveralEntriesWhereColumnsLeaveLanesOver) {
  const std::string schedule = schedule_of({.rows = 200, .entries = 1000, .width = 32});
  EXPECT_TRUE(has(schedule, "split_positions(j, 4")) << schedule;
}

TEST(GpuSchedule, DealsPiecesOfRowsToTheGroupsOfAMultiprocessor) {
  std::string schedule = schedule_of({.width = 128});
  EXPECT_TRUE(has(schedule, "deal_rows(i, 32, i.chunk, i.row, 132, 32)")) << schedule;
}

// Neighbouring lanes process the columns of one entry. Lanes at a distance are summed.
TEST(GpuSchedule, TakesSeveralEntriesOfAPieceOfALongRow) {
  const std::string schedule = schedule_of({.entries = 50000000, .width = 32});
  EXPECT_TRUE(has(schedule, "deal_rows(i, 128, i.chunk, i.row, 132, 32)")) << schedule;
  EXPECT_TRUE(has(schedule, "rfactor(j.lane, C.part); reorder(j.lane, k.vector, k.in)"))
      << schedule;
  EXPECT_TRUE(has(schedule, "bind(k.vector, lane); bind(j.lane, lane)")) << schedule;
}

TEST(GpuSchedule, NarrowsPanelsThatShouldStayInTheCache) {
  EXPECT_TRUE(
      has(schedule_of({.rows = 200000, .entries = 90000000}), "split(k.vector, 8, k.panel"));
  EXPECT_FALSE(has(schedule_of({.rows = 20000, .entries = 9000000}), "k.panel"));
}

TEST(GpuSchedule, TakesPairsOfVectorsOfWideRows) {
  EXPECT_TRUE(has(schedule_of({.width = 512, .deterministic = true}), "unroll(k.pair, 0)"));
}

// The schedule of a sampled product.
std::string schedule_at_entries(const std::string& format) {
  const std::map<std::string, expr::TensorType> types = {
      {"A", {DType::Float32, DType::Int32, Format::parse(format, 2)}},
      {"Q", {DType::Float32, DType::Int64, Format::dense(2)}},
      {"K", {DType::Float32, DType::Int64, Format::dense(2)}}};
  const UniqueProgram program = with_unique_indices(
      expr::resolve(expr::parse_program("S[i,j] = A[i,j] * Q[i,d] * K[j,d]"), types));
  Request request = request_for_gpu(program);
  request.statistics["A"] = {{100000, 100000}, 1000000};
  for (const char* name : {"Q", "K"}) request.statistics[name] = {{100000, 64}, 6400000};
  request.known_extents["d"] = 64;
  return to_string(std::get<schedule::ScheduledNest>(make_plan(request).steps.at(0)).schedule);
}

TEST(GpuSchedule, SpreadsEntriesThatCanBeCountedOff) {
  const std::string schedule = schedule_at_entries("csr");
  EXPECT_TRUE(has(schedule, "split_entries(")) << schedule;
}

TEST(GpuSchedule, SpreadsRowsWhoseEntriesArePadded) {
  const std::string schedule = schedule_at_entries("ell(16)");
  EXPECT_TRUE(has(schedule, "bind(i.lane, lane); bind(d.lane, lane)")) << schedule;
}

TEST(GpuSchedule, SpreadsTheRowsOfOneColumn) {
  const std::string schedule = schedule_of({.width = 1});
  EXPECT_TRUE(has(schedule, "bind(i.chunk.block, block)")) << schedule;
}

std::string scattered(const char* statement, bool deterministic) {
  const std::map<std::string, expr::TensorType> types = {
      {"A", {DType::Float32, DType::Int32, Format::parse("csc", 2)}},
      {"B", {DType::Float32, DType::Int64, Format::dense(2)}}};
  const UniqueProgram program =
      with_unique_indices(expr::resolve(expr::parse_program(statement), types));
  Request request = request_for_gpu(program);
  request.machine.threads = 100000;
  request.machine.deterministic = deterministic;
  request.statistics["A"] = {{100000, 100000}, 1000000};
  request.statistics["B"] = {{100000, 64}, 6400000};
  request.known_extents["k"] = 64;
  std::string text;
  for (const auto& step : make_plan(request).steps) {
    if (const auto* planned = std::get_if<schedule::ScheduledNest>(&step))
      text += to_string(planned->schedule);
  }
  return text;
}

TEST(GpuSchedule, ScattersByAtomicsWhatIsStoredTheOtherWay) {
  const char* product = "C[i,k] = A[i,j] * B[j,k]";
  EXPECT_TRUE(has(scattered(product, false), "thread, sums=atomics)")) << scattered(product, false);
  EXPECT_FALSE(has(scattered(product, true), "atomics")) << scattered(product, true);
}

TEST(GpuSchedule, ReducesByAtomicsBeforeWhatComesOfIt) {
  // A count of entries, their maximum, and an expression of both.
  const char* largest = "C[i,k] = max(j, A[i,j] * B[j,k])";
  for (const bool deterministic : {false, true}) {
    const std::string schedules = scattered(largest, deterministic);
    EXPECT_TRUE(has(schedules, "split_entries(j, i, 32, j.chunk, i.entry)")) << schedules;
    EXPECT_TRUE(has(schedules, "thread, sums=atomics)")) << schedules;
  }
  const char* product = "y[i] = prod(j in A[i,j], A[i,j])";
  EXPECT_TRUE(has(scattered(product, false), "sums=atomics")) << scattered(product, false);
  EXPECT_FALSE(has(scattered(product, true), "atomics")) << scattered(product, true);
  // If the loops do not follow rows, nothing can be cut.
  const char* rows = "y[j] = max(i, A[i,j])";
  EXPECT_FALSE(has(scattered(rows, false), "atomics")) << scattered(rows, false);
}

}  // namespace
}  // namespace tulle::plan
