// Programs that decompose operands at the start of every run.
#include <algorithm>

#include "composite/composite.h"
#include "format/composite.h"
#include "support/check.h"

namespace tulle {

namespace {

class DecomposingProgram final : public Program {
 public:
  DecomposingProgram(std::vector<TensorSpec> given, std::shared_ptr<const Program> inside)
      : given_(std::move(given)), inside_(std::move(inside)) {}

  const std::vector<TensorSpec>& operands() const override { return given_; }
  const std::vector<TensorSpec>& results() const override { return inside_->results(); }
  int64_t code_bytes() const override { return inside_->code_bytes(); }

  void run_into(const std::vector<TensorView>& views, Memory& memory, const RunOptions& options,
                std::vector<ResultTensor>& results) const override {
    TemporaryMemory scratch(options, memory);
    inside_->run_into(apart(views, scratch, options), memory, options, results);
  }

  std::string explain(const std::vector<TensorView>& views,
                      const RunOptions& options) const override {
    TemporaryMemory scratch(options);
    return inside_->explain(apart(views, scratch, options), options);
  }

  std::vector<ScheduleCandidate> candidates(const std::vector<TensorView>& views,
                                            const RunOptions& options) const override {
    TemporaryMemory scratch(options);
    return inside_->candidates(apart(views, scratch, options), options);
  }

  void keep_schedule(const std::vector<TensorView>& views, const RunOptions& options,
                     const MeasuredSchedule& measured) const override {
    TemporaryMemory scratch(options);
    inside_->keep_schedule(apart(views, scratch, options), options, measured);
  }

 private:
  std::vector<TensorView> apart(std::vector<TensorView> views, TemporaryMemory& scratch,
                                const RunOptions& options) const {
    check_operand_count(given_.size(), views.size());
    for (size_t o = 0; o < views.size(); ++o) {
      const std::string& format = inside_->operands()[o].format;
      if (format == given_[o].format) continue;
      TensorView whole{views[o].sizes, {}, {}};
      for (const ResultTensor& part : decompose(format, given_[o], views[o], scratch, options)) {
        whole.parts.push_back(view_of(part));
      }
      views[o] = std::move(whole);
    }
    return views;
  }

  std::vector<TensorSpec> given_;
  std::shared_ptr<const Program> inside_;
};

}  // namespace

std::vector<TensorSpec> decomposed_specs(
    const std::vector<TensorSpec>& given,
    const std::vector<schedule::Decomposition>& decompositions) {
  std::vector<TensorSpec> specs = given;
  for (const schedule::Decomposition& step : decompositions) {
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const TensorSpec& each) {
      return each.name == step.operand;
    });
    if (spec == specs.end()) {
      fail_at(step.place, concat("there is no operand '", step.operand, "'"));
    }
    if (!CompositeFormat::is_composite(step.format)) {
      Format::parse(step.format, spec->rank);  // throws if it is not a format at all
      fail_at(step.place,
              concat("the format ", step.format, " has no parts; give a composite format, ",
                     "as in decompose(", step.operand, ", hyb(1,3))"));
    }
    CompositeFormat::parse(step.format, spec->rank);
    spec->format = step.format;
  }
  return specs;
}

void require_sparse(const std::vector<TensorSpec>& given,
                    const std::vector<schedule::Decomposition>& decompositions) {
  for (const schedule::Decomposition& step : decompositions) {
    for (const TensorSpec& spec : given) {
      if (spec.name != step.operand || CompositeFormat::is_composite(spec.format) ||
          !Format::parse(spec.format, spec.rank).is_dense()) {
        continue;
      }
      fail_at(step.place, concat("'", step.operand, "' is dense, but decompose distributes the ",
                                 "entries of a sparse operand over parts; remove the step"));
    }
  }
}

std::shared_ptr<const Program> decomposing_program(
    const std::vector<TensorSpec>& given,
    const std::vector<schedule::Decomposition>& decompositions,
    std::shared_ptr<const Program> inside) {
  if (decompositions.empty()) return inside;
  return std::make_shared<DecomposingProgram>(given, std::move(inside));
}

}  // namespace tulle
