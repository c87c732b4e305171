// Rules for schedules on a GPU: which loops run on blocks and threads follows from which are dense
// and contiguous, which walk over entries and which are summed.
#include "plan/choose_gpu_schedule.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "support/check.h"

namespace tulle::plan {

namespace {

constexpr int64_t kLanes = 32;     // of a warp
constexpr int64_t kThreads = 128;  // of a block
constexpr int64_t kCopies = 8;     // of a loop over entries: so many loads are under way

class GpuScheduler {
 public:
  GpuScheduler(const OrderProblem& problem, const OrderChoice& choice, const nest::Nest& nest,
               const Machine& machine)
      : problem_(problem), nest_(nest), order_(choice.order) {
    const DType type = problem.tensors->at(problem.statement->tensor).type;
    vector_ = type == DType::Bool ? 1 : std::max<int64_t>(1, machine.vector_bytes / size_of(type));
    is_contiguous_ = choice.vectorized;
    is_plain_ = choice.route == Route::Dense || choice.route == Route::Shared;
  }

  std::string run() {
    if (order_.empty() || !is_plain_ || is_summed(order_[0])) return {};
    if (order_.size() > 1 && is_contiguous_ && !is_summed(order_.back())) columns_on_threads();
    return is_legal() ? text_ : std::string();
  }

 private:
  using Names = std::vector<std::string>;

  void add(const std::string& step) { text_ += (text_.empty() ? "" : "; ") + step; }

  static std::string list(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  bool is_summed(const std::string& var) const { return problem_.reduced.contains(var); }

  void split(const std::string& var, int64_t length, const std::string& outer,
             const std::string& inner) {
    add(concat("split(", var, ", ", length, ", ", outer, ", ", inner, ")"));
  }

  // Rows and the columns of a row on threads, each with a vector of columns; what lies between is
  // walked over by every thread. Where a row has more columns than a warp can take at once, panels
  // of them come one after the other, so that what is gathered from the dense operand stays in the
  // cache.
  void columns_on_threads() {
    const std::string row = order_.front(), column = order_.back();
    const Names between(order_.begin() + 1, order_.end() - 1);
    const auto extent = nest_.known_extent(column);
    const int64_t width = extent ? std::gcd(*extent, vector_) : 1;
    std::string on_threads = column, vector;
    if (width > 1) {
      on_threads = column + "_vector", vector = column + "_in";
      split(column, width, on_threads, vector);
    }
    int64_t threads = extent ? std::max<int64_t>(1, *extent / width) : kLanes;
    std::string block = row + "_block";
    Names order = {block, row + "_in"};
    if (!extent || threads > kLanes) {
      split(on_threads, kLanes, column + "_panel", column + "_lane");
      on_threads = column + "_lane";
      threads = kLanes;
      order.insert(order.begin(), column + "_panel");
    }
    split(row, std::max<int64_t>(1, kThreads / threads), block, row + "_in");
    order.push_back(on_threads);
    order.insert(order.end(), between.begin(), between.end());
    if (!vector.empty()) order.push_back(vector);
    add(concat("reorder(", list(order), ")"));
    if (order[0] != block) {
      add(concat("fuse(", order[0], ", ", block, ", ", row, "_panel_block)"));
      block = row + "_panel_block";
    }
    add(concat("fuse(", row, "_in, ", on_threads, ", ", row, "_thread)"));
    gather_sums(between, vector);
    add(concat("bind(", block, ", block)"));
    add(concat("bind(", row, "_thread, thread)"));
    if (width > 1) add(concat("vectorize(", vector, ", ", width, ")"));
    if (!between.empty() && is_summed(between.back()))
      add(concat("unroll(", between.back(), ", ", kCopies, ")"));
  }

  // Sums over the loops that each thread runs go into its registers.
  void gather_sums(const Names& loops, const std::string& vector) {
    const auto first = std::find_if(loops.begin(), loops.end(),
                                    [&](const std::string& var) { return is_summed(var); });
    if (first == loops.end()) return;
    Names inside;
    std::copy_if(first, loops.end(), std::back_inserter(inside),
                 [&](const std::string& var) { return !is_summed(var); });
    if (!vector.empty()) inside.push_back(vector);
    add(concat("precompute(", problem_.statement->tensor, "_acc, (", list(inside), "))"));
  }

  bool is_legal() const {
    if (text_.empty()) return false;
    try {
      schedule::apply(schedule::parse_schedule(text_), nest_);
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  const OrderProblem& problem_;
  const nest::Nest& nest_;
  const std::vector<std::string>& order_;
  std::string text_;
  int64_t vector_ = 1;          // elements of 16 bytes
  bool is_contiguous_ = false;  // the innermost loop runs over contiguous data
  bool is_plain_ = false;       // the result's structure is known
};

}  // namespace

std::string choose_gpu_schedule(const OrderProblem& problem, const OrderChoice& choice,
                                const nest::Nest& nest, const Machine& machine) {
  return GpuScheduler(problem, choice, nest, machine).run();
}

}  // namespace tulle::plan
