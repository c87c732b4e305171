// Hashes the inputs of a program's compilation as text.
#include "driver/program_key.h"

#include "jit/build_identity.h"
#include "plan/tune/plan_key.h"
#include "support/mutant.h"

namespace tulle {

namespace {

// Builds text in which every part has an unambiguous end.
class KeyText {
 public:
  template <typename... Parts>
  void add(const Parts&... parts) {
    const std::string part = concat(parts...);
    text_ += concat(part.size(), ":", part, "\n");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_machine(const plan::Machine& machine, KeyText& key) {
  const auto& [backend, multiprocessors, vector_bytes, second_cache, last_cache, many_entries,
               deterministic, threads] = machine;
  key.add(static_cast<int>(backend), " ", multiprocessors, " ", vector_bytes, " ", second_cache,
          " ", last_cache, " ", many_entries, " ", deterministic, " ", threads);
}

void add_target(const codegen::Target& target, KeyText& key) {
  const auto& [triple, cpu, features, light] = target;
  for (const std::string& part : {triple, cpu, features}) key.add(part);
  key.add(light);
}

// Adds the statistics by which variants of a program differ (VariantTable::signature).
void add_statistics(const plan::OperandStatistics& statistics, KeyText& key) {
  const auto& [sizes, count, distinct_share, longest_row] = statistics;
  for (const int64_t size : sizes) key.add(plan::magnitude(size));
  key.add(plan::magnitude(count), " ", name_of(plan::locality_of(distinct_share)), " ",
          longest_row);
}

}  // namespace

std::optional<jit::ContentHash> program_key(const CompileRequest& request) {
  if (!request.source || request.checked || !request.plan.decisions.empty()) return std::nullopt;
  KeyText key;
  add_machine(request.plan.machine, key);
  add_target(request.target, key);
  for (const auto& [index, extent] : request.plan.known_extents) key.add(index, " ", extent);
  for (const auto& [operand, statistics] : request.plan.statistics) {
    key.add(operand);
    add_statistics(statistics, key);
  }
  for (const schedule::Schedule& schedule : request.tuned) key.add(to_string(schedule));
  const auto& [work_per_chunk, work_per_thread, threads_per_block, most_slots] =
      request.limits.chunks;
  key.add(work_per_chunk, " ", work_per_thread, " ", threads_per_block, " ", most_slots);
  const auto& [most_operations, most_copies] = request.limits.bodies;
  key.add(most_operations, " ", most_copies);
  return jit::hash_of({jit::build_identity(), "known program 1", request.source->view(),
                       active_mutant(), key.text()});
}

jit::ContentHash source_of(std::string_view language, std::string_view text,
                           const std::vector<TensorSpec>& operands, const ProgramOptions& options) {
  KeyText key;
  for (const TensorSpec& operand : operands) {
    key.add(operand.name);
    key.add(operand.format);
    key.add(name_of(operand.type), " ", name_of(operand.index_type), " ", operand.rank, " ",
            operand.like);
  }
  const auto& [out_formats, schedule, features, checked, tuned, ones, reduce] = options;
  for (const auto& [result, format] : out_formats) key.add(result, " ", format);
  for (const std::string& part : {schedule, features, reduce}) key.add(part);
  key.add(checked, " ", tuned);
  for (const auto& [operand, dimension] : ones) key.add(operand, " ", dimension);
  return jit::hash_of({language, text, key.text()});
}

}  // namespace tulle
