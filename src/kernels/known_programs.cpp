// An entry is text: a line for the code of each kernel, a line for each result, and the host
// program.
#include "kernels/known_programs.h"

#include <sstream>

#include "loop/outline.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "support/joined.h"
#include "support/log.h"

namespace tulle {

namespace {

constexpr std::string_view kNone = "-";

void write_result(const ResultLayout& result, std::ostream& out) {
  out << "result " << result.tensor << " "
      << (result.shared_operand.empty() ? kNone : std::string_view(result.shared_operand)) << " "
      << result.values << " " << result.pos.size();
  for (size_t level = 0; level < result.pos.size(); ++level)
    out << " " << result.pos[level] << " " << result.crd[level];
  out << "\n";
}

// Reads the rest of a line. Sets the stream's fail state if the line is malformed.
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

std::optional<jit::ContentHash> stored_key(const CodeRequest& request) {
  if (!request.program_key || request.disabled_passes.empty()) return request.program_key;
  return jit::hash_of({request.program_key->hex(), joined(request.disabled_passes)});
}

std::optional<KnownProgram> find_known_program(const CodeRequest& request, size_t results,
                                               jit::DiskCache& disk) {
  const std::optional<jit::ContentHash> key = stored_key(request);
  if (!key) return std::nullopt;
  StageTimes times;
  const std::optional<std::vector<char>> entry = disk.load(*key);
  if (!entry) return std::nullopt;
  std::optional<KnownProgram> known = parse_known_program({entry->begin(), entry->end()}, results);
  times.end("read");
  TULLE_LOG(Info,
            known ? "known program " : "planning again because the stored program is unreadable: ",
            key->hex(), ", ", request.title, ": ", times.text(), " ms");
  return known;
}

void store_known_program(const CodeRequest& request, const LoweredProgram& lowered,
                         const std::vector<jit::KernelCache::WantedCode>& code,
                         jit::DiskCache& disk) {
  const std::optional<jit::ContentHash> key = stored_key(request);
  if (!key) return;
  KnownProgram known{lowered, code};
  for (loop::Kernel& kernel : known.lowered.program.kernels) kernel = loop::outline(kernel);
  if (disk.store(*key, to_string(known))) TULLE_LOG(Info, "stored program ", key->hex());
}

}  // namespace tulle
