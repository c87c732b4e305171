// Programs with renamed tensors.
#include "api/renaming_program.h"

#include <cctype>

#include "support/check.h"

namespace tulle {

namespace {

class RenamingProgram final : public Program {
 public:
  RenamingProgram(std::vector<TensorSpec> operands, const plan::TensorNames& names,
                  std::shared_ptr<const Program> inside)
      : operands_(std::move(operands)),
        results_(inside->results()),
        inwards_(names),
        inside_(std::move(inside)) {
    for (const auto& [written, name] : names) outwards_[name] = written;
    for (TensorSpec& result : results_) {
      const auto found = outwards_.find(result.name);
      if (found != outwards_.end()) result.name = found->second;
    }
  }

  const std::vector<TensorSpec>& operands() const override { return operands_; }
  const std::vector<TensorSpec>& results() const override { return results_; }
  int64_t code_bytes() const override { return inside_->code_bytes(); }

  void run_into(const std::vector<TensorView>& views, Memory& memory, const RunOptions& options,
                std::vector<ResultTensor>& results) const override {
    inside_->run_into(views, memory, options, results);
  }

  std::string explain(const std::vector<TensorView>& views,
                      const RunOptions& options) const override {
    std::string text = "== names ==\n";
    for (const auto& [written, name] : inwards_)
      text += concat("'", written, "' is called ", name, " here\n");
    return concat(text, "\n", inside_->explain(views, options));
  }

  std::vector<ScheduleCandidate> candidates(const std::vector<TensorView>& views,
                                            const RunOptions& options) const override {
    std::vector<ScheduleCandidate> found = inside_->candidates(views, options);
    for (ScheduleCandidate& candidate : found) {
      candidate.statement = with_names(candidate.statement, outwards_);
      candidate.schedule = with_names(candidate.schedule, outwards_);
    }
    return found;
  }

  void keep_schedule(const std::vector<TensorView>& views, const RunOptions& options,
                     const MeasuredSchedule& measured) const override {
    MeasuredSchedule kept = measured;
    kept.schedule = with_names(measured.schedule, inwards_);
    inside_->keep_schedule(views, options, kept);
  }

 private:
  std::vector<TensorSpec> operands_, results_;
  plan::TensorNames inwards_, outwards_;
  std::shared_ptr<const Program> inside_;
};

}  // namespace

std::string with_names(const std::string& text, const plan::TensorNames& names) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string changed;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    while (end < text.size() && is_part(text[end]) == is_part(text[begin])) ++end;
    const std::string word = text.substr(begin, end - begin);
    const auto found = names.find(word);
    changed += found == names.end() ? word : found->second;
  }
  return changed;
}

std::vector<TensorSpec> with_names(const std::vector<TensorSpec>& given,
                                   const plan::TensorNames& names) {
  std::vector<TensorSpec> specs = given;
  for (TensorSpec& spec : specs) {
    const auto found = names.find(spec.name);
    if (found != names.end()) spec.name = found->second;
  }
  return specs;
}

ProgramOptions with_names(const ProgramOptions& given, const plan::TensorNames& names) {
  ProgramOptions options = given;
  options.schedule = with_names(given.schedule, names);
  options.out_formats.clear();
  for (const auto& [name, format] : given.out_formats) {
    const auto found = names.find(name);
    options.out_formats[found == names.end() ? name : found->second] = format;
  }
  return options;
}

std::shared_ptr<const Program> renaming_program(const std::vector<TensorSpec>& operands,
                                                const plan::TensorNames& names,
                                                std::shared_ptr<const Program> inside) {
  if (names.empty()) return inside;
  return std::make_shared<RenamingProgram>(operands, names, std::move(inside));
}

}  // namespace tulle
