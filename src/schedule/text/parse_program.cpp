// The parser of programs of nests.
#include <algorithm>
#include <set>

#include "nest/nest_parser.h"
#include "schedule/program.h"
#include "support/check.h"

namespace tulle::schedule {

using nest::Nest;
using nest::NestParser;
using nest::Tensor;
using nest::Variable;

namespace {

class ProgramParser {
 public:
  explicit ProgramParser(std::string_view text) : scanner_(text) {}

  NestProgram parse() {
    if (scanner_.peek().is("nest")) return single();
    const std::vector<Token> operands = header();
    while (scanner_.peek().is("operand") || scanner_.peek().is("same")) declaration();
    while (!scanner_.at_end()) step();
    for (const Token& operand : operands) check_operand(operand);
    for (const Token& sorted : sorted_) {
      if (!is_read(sorted)) scanner_.fail(sorted, concat("no nest reads '", sorted.text, "'"));
    }
    for (const Token& result : results_) check_built(result, "a result");
    if (program_.steps.empty()) scanner_.fail(scanner_.peek(), "expected a nest");
    return std::move(program_);
  }

 private:
  static std::string text_of(const Token& token) { return std::string(token.text); }

  NestProgram single() {
    Nest nest = NestParser(scanner_).parse();
    Schedule steps = schedule();
    if (!scanner_.at_end()) {
      scanner_.fail(scanner_.peek(),
                    "expected the end of the nest; several nests need a line program(A, B; i, j) "
                    "-> (C)");
    }
    return program_of(std::move(nest), std::move(steps));
  }

  // program(A, B; i, j, k) -> (C)
  std::vector<Token> header() {
    scanner_.expect("program");
    scanner_.expect("(");
    const std::vector<Token> operands = names(";");
    for (const Token& name : operands) program_.operands.push_back(text_of(name));
    for (const Token& name : names(")")) {
      program_.indices.push_back(text_of(name));
      extents_.insert(text_of(name));
    }
    scanner_.expect("-");
    scanner_.expect(">");
    scanner_.expect("(");
    results_ = names(")");
    for (const Token& name : results_) program_.results.push_back(text_of(name));
    return operands;
  }

  // Reads names up to the token `end`: A, B.
  std::vector<Token> names(std::string_view end) {
    std::vector<Token> found;
    if (scanner_.accept(end)) return found;
    do {
      const Token name = scanner_.expect(TokenKind::Identifier, "a name");
      const bool twice = std::any_of(found.begin(), found.end(),
                                     [&](const Token& one) { return one.text == name.text; });
      if (twice) scanner_.fail(name, concat("'", name.text, "' occurs twice in one list"));
      found.push_back(name);
    } while (scanner_.accept(","));
    scanner_.expect(end);
    return found;
  }

  // operand D: f32, i32, (i) -> (i: compressed), or same A_as0_0 = i
  void declaration() {
    if (scanner_.accept("same")) {
      const Token index = scanner_.expect(TokenKind::Identifier, "an index");
      scanner_.expect("=");
      const Token same = scanner_.expect(TokenKind::Identifier, "an index of the program");
      const auto& known = program_.indices;
      if (std::find(known.begin(), known.end(), same.text) == known.end())
        scanner_.fail(same, concat("'", same.text, "' is no index of the program"));
      if (!extents_.insert(text_of(index)).second)
        scanner_.fail(index, concat("the index '", index.text, "' already exists"));
      program_.same_extents[text_of(index)] = text_of(same);
      return;
    }
    Nest unused;
    nest::DeclarationParser parser(scanner_, unused);
    const Token start = scanner_.peek();
    if (!parser.declaration() || !parser.tensors()[0].format.starts_with("("))
      scanner_.fail(start, "expected an operand with its format in full, as (i) -> (i: dense)");
    const nest::TensorDeclaration& declared = parser.tensors()[0];
    expr::TensorType type = declared.tensor.type;
    type.format = nest::parse_long_format(declared.format);
    const auto& known = program_.operands;
    if (std::find(known.begin(), known.end(), declared.name.text) == known.end())
      scanner_.fail(declared.name, concat("'", declared.name.text, "' is no operand"));
    program_.unread[text_of(declared.name)] = type;
  }

  void step() {
    if (scanner_.accept("sort")) return sort();
    const Token start = scanner_.peek();
    if (!start.is("nest")) scanner_.fail(start, "expected a nest or a sort");
    Nest nest = NestParser(scanner_).parse();
    check_nest(nest, start);
    for (const auto& [name, tensor] : nest.tensors) {
      if (tensor.role == Tensor::Role::Result) built_.insert(name);
    }
    Schedule steps = schedule();
    program_.steps.emplace_back(ScheduledNest{std::move(nest), std::move(steps)});
  }

  // sort A_entries into A_sorted
  void sort() {
    SortEntries sort;
    const Token from = scanner_.expect(TokenKind::Identifier, "coordinates that a nest has built");
    check_built(from, "sorted");
    sort.from = from.text;
    scanner_.expect("into");
    const Token to = scanner_.expect(TokenKind::Identifier, "a name for the sorted ones");
    sort.to = to.text;
    sorted_.push_back(to);
    built_.insert(sort.to);
    program_.steps.emplace_back(sort);
  }

  // The program must declare the tensors that a nest reads, and the extents of its loops.
  void check_nest(const Nest& nest, const Token& start) const {
    const auto& operands = program_.operands;
    for (const auto& [name, tensor] : nest.tensors) {
      const bool known = std::find(operands.begin(), operands.end(), name) != operands.end() ||
                         built_.contains(name);
      if (tensor.role == Tensor::Role::Operand && !known) {
        scanner_.fail(start, concat("the nest reads '", name,
                                    "', which is no operand of the program, and which no nest ",
                                    "before builds"));
      }
    }
    for (const auto& [name, variable] : nest.variables) {
      if (variable.origin != Variable::Origin::Source || extents_.contains(name)) continue;
      scanner_.fail(start, concat("nothing tells the extent of '", name,
                                  "'; add it to the indices of the program"));
    }
  }

  // The rest of a line that starts with schedule:, if that is next.
  Schedule schedule() {
    if (!scanner_.peek().is("schedule") || !scanner_.peek(1).is(":")) return {};
    scanner_.next();
    const size_t begin = scanner_.next().offset + 1;
    const size_t end = std::min(scanner_.source().find('\n', begin), scanner_.source().size());
    while (!scanner_.at_end() && scanner_.peek().offset < end) scanner_.next();
    return parse_schedule(blanked_before(scanner_.source().substr(0, end), begin));
  }

  void check_built(const Token& name, std::string_view what) const {
    if (built_.contains(text_of(name))) return;
    scanner_.fail(name, concat("'", name.text, "' is ", what, ", and no nest builds it"));
  }

  bool is_read(const Token& name) const {
    return std::any_of(program_.steps.begin(), program_.steps.end(), [&](const ProgramStep& step) {
      const auto* scheduled = std::get_if<ScheduledNest>(&step);
      return scheduled && scheduled->nest.tensors.contains(text_of(name));
    });
  }

  void check_operand(const Token& name) const {
    if (is_read(name) || program_.unread.contains(text_of(name))) return;
    scanner_.fail(name, concat("no nest reads the operand '", name.text,
                               "'; a line with its format tells its arrays: operand ", name.text,
                               ": f32, i32, (i) -> (i: compressed)"));
  }

  nest::NestScanner scanner_;
  NestProgram program_;
  std::vector<Token> results_, sorted_;
  std::set<std::string> extents_;  // indices with a known extent
  std::set<std::string> built_;
};

}  // namespace

NestProgram parse_program(std::string_view text) { return ProgramParser(text).parse(); }

}  // namespace tulle::schedule
