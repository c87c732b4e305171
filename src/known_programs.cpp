// An entry is text: a line for the code of each kernel, one for each result, and the host program.
#include "known_programs.h"

#include <sstream>

#include "jit/build_identity.h"
#include "loop/outline.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "lower/lower.h"
#include "plan/plan_key.h"
#include "support/log.h"
#include "support/mutant.h"

namespace tulle {

namespace {

// Text whose parts cannot be mistaken for others.
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
  const auto& [kind, multiprocessors, vector_bytes, second_cache, last_cache, many_entries,
               deterministic, threads] = machine;
  key.add(static_cast<int>(kind), " ", multiprocessors, " ", vector_bytes, " ", second_cache, " ",
          last_cache, " ", many_entries, " ", deterministic, " ", threads);
}

void add_target(const codegen::Target& target, KeyText& key) {
  const auto& [triple, cpu, features, light] = target;
  for (const std::string& part : {triple, cpu, features}) key.add(part);
  key.add(light);
}

// As far as variants of a program differ in them (VariantTable::signature).
void add_statistics(const plan::OperandStatistics& statistics, KeyText& key) {
  const auto& [sizes, count, distinct_share, longest_row] = statistics;
  for (const int64_t size : sizes) key.add(plan::magnitude(size));
  key.add(plan::magnitude(count), " ", name_of(plan::locality_of(distinct_share)), " ",
          longest_row);
}

// What tells programs apart; nothing where they are not kept.
std::optional<jit::ContentHash> key_of(const CompileRequest& request) {
  if (!request.source || request.checked || !request.decisions.empty()) return std::nullopt;
  KeyText key;
  add_machine(request.machine, key);
  add_target(request.target, key);
  for (const auto& [index, extent] : request.known_extents) key.add(index, " ", extent);
  for (const auto& [operand, statistics] : request.statistics) {
    key.add(operand);
    add_statistics(statistics, key);
  }
  for (const schedule::Schedule& schedule : request.tuned) key.add(to_string(schedule));
  const auto& [threads_per_block, most_slots] = lower::gpu_shape();
  key.add(lower::work_per_chunk(), " ", threads_per_block, " ", most_slots);
  return jit::hash_of({jit::build_identity(), "known program 1", request.source->view(),
                       active_mutant(), key.text()});
}

constexpr std::string_view kNone = "-";

void write_result(const ResultLayout& result, std::ostream& out) {
  out << "result " << result.tensor << " "
      << (result.shared_operand.empty() ? kNone : std::string_view(result.shared_operand)) << " "
      << result.values << " " << result.pos.size();
  for (size_t level = 0; level < result.pos.size(); ++level)
    out << " " << result.pos[level] << " " << result.crd[level];
  out << "\n";
}

// Of a line; `in` has failed where that is none.
ResultLayout read_result(std::istream& in) {
  ResultLayout result;
  size_t levels = 0;
  in >> result.tensor >> result.shared_operand >> result.values >> levels;
  if (result.shared_operand == kNone) result.shared_operand.clear();
  for (size_t level = 0; in && level < levels; ++level) {
    int pos = -1, crd = -1;
    in >> pos >> crd;
    result.pos.push_back(pos);
    result.crd.push_back(crd);
  }
  return result;
}

}  // namespace

jit::ContentHash source_of(std::string_view language, std::string_view text,
                           const std::vector<TensorSpec>& operands, const ProgramOptions& options) {
  KeyText key;
  for (const TensorSpec& operand : operands) {
    key.add(operand.name);
    key.add(operand.format);
    key.add(name_of(operand.type), " ", name_of(operand.index_type), " ", operand.rank);
  }
  const auto& [out_formats, schedule, features, checked, tuned, ones, reduce] = options;
  for (const auto& [result, format] : out_formats) key.add(result, " ", format);
  for (const std::string& part : {schedule, features, reduce}) key.add(part);
  key.add(checked, " ", tuned);
  for (const auto& [operand, dimension] : ones) key.add(operand, " ", dimension);
  return jit::hash_of({language, text, key.text()});
}

std::string to_string(const KnownProgram& known) {
  std::ostringstream out;
  for (const auto& [key, names] : known.code)
    out << "code " << key.hex() << " " << names.front() << "\n";
  for (const ResultLayout& result : known.lowered.results) write_result(result, out);
  out << "\n" << loop::to_string(known.lowered.program);
  return out.str();
}

std::optional<KnownProgram> parse_known_program(const std::string& text, size_t results) {
  const size_t head = text.find("\n\n");
  if (head == std::string::npos) return std::nullopt;
  KnownProgram known;
  std::istringstream in(text.substr(0, head));
  for (std::string word; in >> word;) {
    if (word == "result") {
      known.lowered.results.push_back(read_result(in));
    } else if (std::string hex, name; word == "code" && in >> hex >> name) {
      const std::optional<jit::ContentHash> key = jit::ContentHash::from_hex(hex);
      if (!key) return std::nullopt;
      known.code.push_back({*key, {name}});
    } else {
      return std::nullopt;
    }
    if (!in) return std::nullopt;
  }
  try {
    known.lowered.program = loop::parse_host_program(std::string_view(text).substr(head + 2));
  } catch (const UserError&) {
    return std::nullopt;
  }
  const bool is_whole = known.code.size() == known.lowered.program.kernels.size() &&
                        known.lowered.results.size() == results;
  return is_whole ? std::optional(std::move(known)) : std::nullopt;
}

std::optional<KnownProgram> find_known_program(const CompileRequest& request,
                                               jit::DiskCache& disk) {
  const std::optional<jit::ContentHash> key = key_of(request);
  if (!key) return std::nullopt;
  StageTimes times;
  const std::optional<std::vector<char>> entry = disk.load(*key);
  if (!entry) return std::nullopt;
  std::optional<KnownProgram> known =
      parse_known_program({entry->begin(), entry->end()}, request.program->program.results.size());
  times.end("read");
  TULLE_LOG(Info, known ? "known program " : "planning anew: not understood is ", key->hex(), ", ",
            title(request), ": ", times.text(), " ms");
  return known;
}

void keep_known_program(const CompileRequest& request, const LoweredProgram& lowered,
                        const std::vector<jit::KernelCache::WantedCode>& code,
                        jit::DiskCache& disk) {
  const std::optional<jit::ContentHash> key = key_of(request);
  if (!key) return;
  KnownProgram known{lowered, code};
  for (loop::Kernel& kernel : known.lowered.program.kernels) kernel = loop::outline(kernel);
  if (disk.store(*key, to_string(known))) TULLE_LOG(Info, "kept program ", key->hex());
}

}  // namespace tulle
