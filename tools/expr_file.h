// Files that tulle-opt reads with --from expr: declarations, a line each, and statements of index
// notation.
//
//   operand A: f32, i32, csr [2708, 2708] nnz 10556    # type, index type (i64), format, sizes;
//                                                      # also: longest 168, entries of a row
//   operand B: f32 [2708, 64]                          # dense
//   result C: csr                                      # instead of what the language chooses
//   extent k = 64                                      # kernels are specialised to it
//   C[i,k] = A[i,j] * B[j,k]
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "composite/operand_parts.h"
#include "driver/compile.h"
#include "expr/program.h"
#include "format/composite.h"
#include "grad/derivative.h"
#include "support/check.h"
#include "support/scanner.h"

namespace tulle {

struct ExprFile {
  expr::ResolvedProgram written;               // composite operands as CSR or CSF
  plan::UniqueProgram program;                 // composite operands as their parts
  std::vector<std::string> operands;           // in the order of the declarations
  std::vector<std::string> declared;           // the declared operands
  std::map<std::string, std::string> formats;  // of composite operands
  std::map<std::string, int64_t> known_extents;
  std::map<std::string, plan::OperandStatistics> statistics;
};

class ExprFileParser {
 public:
  ExprFileParser(std::string_view text, expr::Writer writer)
      : scanner_(text, "expression file", {.newlines = true, .comment = "#", .dotted_names = true}),
        notation_(text),
        writer_(writer) {}

  ExprFile parse() {
    while (!scanner_.at_end()) line();
    const expr::ParsedProgram parsed = expr::parse_program(notation_, writer_);
    expr::ResolveOptions options;
    std::vector<TensorSpec> specs;
    for (const Declaration& declared : declarations_) {
      const std::string& name = declared.name;
      const int rank = rank_of(declared, parsed);
      if (declared.is_result) {
        options.out_formats.emplace(name, Format::parse(declared.format, rank));
        continue;
      }
      file_.declared.push_back(name);
      if (CompositeFormat::is_composite(declared.format)) file_.formats[name] = declared.format;
      specs.push_back({name, declared.format, *declared.type, declared.index_type, rank, {}});
    }
    const OperandParts parts(specs);
    for (const TensorSpec& spec : parts.specs()) file_.operands.push_back(spec.name);
    for (const Declaration& declared : declarations_) {
      if (!declared.is_result) add_statistics(declared, parts);
    }
    file_.written = expr::resolve(parsed, parts.types(), options);
    file_.program = plan::decompose(plan::with_unique_indices(file_.written), parts.composites());
    for (const Declaration& declared : declarations_) check_type(declared);
    return std::move(file_);
  }

 private:
  struct Declaration {
    std::string name;
    Token place;
    bool is_result = false;
    std::optional<DType> type;
    DType index_type = DType::Int64;
    std::string format = "dense";
    std::optional<std::vector<int64_t>> sizes;
    std::optional<int64_t> count;
    int64_t longest_row = 0;  // 0: unknown
  };

  // Parses a declaration and blanks it. The text that remains is index notation, and errors show
  // the right line.
  void line() {
    const Token first = scanner_.next();
    if (first.kind == TokenKind::Newline) return;
    const bool declares = scanner_.peek().kind == TokenKind::Identifier &&
                          (first.is("operand") || first.is("result") || first.is("extent"));
    if (declares && first.is("extent")) {
      extent();
    } else if (declares) {
      tensor(first.is("result"));
    }
    while (!ends_line()) {
      if (declares) scanner_.fail(scanner_.peek(), "expected the end of the line");
      scanner_.next();
    }
    const size_t end = scanner_.peek().offset;
    if (declares) notation_.replace(first.offset, end - first.offset, end - first.offset, ' ');
    if (!scanner_.at_end()) scanner_.next();
  }

  bool ends_line() const { return scanner_.at_end() || scanner_.peek().kind == TokenKind::Newline; }

  void extent() {
    const std::string index(scanner_.next().text);
    scanner_.expect("=");
    file_.known_extents[index] = scanner_.expect_integer("an extent");
  }

  void tensor(bool is_result) {
    const Token name = scanner_.next();
    Declaration declared{.name = std::string(name.text), .place = name, .is_result = is_result};
    scanner_.expect(":");
    declared.type = accept_type();
    if (!declared.type && !is_result)
      scanner_.fail(scanner_.peek(), "expected an element type such as f32");
    if (const auto type = accept_type()) declared.index_type = *type;
    const size_t begin = scanner_.peek().offset;
    size_t end = begin;
    int depth = 0;  // of braces, because composite formats contain `nnz` too
    while (!ends_line() &&
           (depth > 0 || (!scanner_.peek().is("[") && !scanner_.peek().is("nnz")))) {
      const Token token = scanner_.next();
      depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
      end = token.offset + token.text.size();
    }
    if (end > begin) declared.format = scanner_.source().substr(begin, end - begin);
    if (scanner_.accept("[")) declared.sizes = sizes();
    if (scanner_.accept("nnz")) declared.count = scanner_.expect_integer("a number of entries");
    if (scanner_.accept("longest"))
      declared.longest_row = scanner_.expect_integer("a number of entries");
    declarations_.push_back(std::move(declared));
  }

  std::optional<DType> accept_type() {
    const auto type = dtype_from_name(scanner_.peek().text);
    if (type) scanner_.next();
    if (type) scanner_.accept(",");
    return type;
  }

  std::vector<int64_t> sizes() {
    std::vector<int64_t> sizes;
    while (!scanner_.accept("]")) {
      sizes.push_back(scanner_.expect_integer("a size"));
      if (!scanner_.peek().is("]")) scanner_.expect(",");
    }
    return sizes;
  }

  int rank_of(const Declaration& declared, const expr::ParsedProgram& program) const {
    const std::string& name = declared.name;
    const auto rank = [&](const std::vector<std::string>& indices) {
      return static_cast<int>(declared.sizes ? declared.sizes->size() : indices.size());
    };
    for (const expr::Statement& statement : program.statements) {
      if (statement.tensor == name) return rank(statement.indices);
      for (const expr::Access* access : expr::accesses(statement.value)) {
        if (access->tensor == name) return rank(access->indices);
      }
    }
    scanner_.fail(declared.place, concat("no statement uses '", name, "'; leave its line out"));
  }

  void add_statistics(const Declaration& declared, const OperandParts& parts) {
    if (!declared.sizes) return;
    const std::string& name = declared.name;
    if (!parts.types().at(name).format.is_dense() && !declared.count) {
      scanner_.fail(declared.place,
                    concat("beside its sizes the sparse operand '", declared.place.text,
                           "' needs its number of entries: nnz 1000"));
    }
    int64_t count = 1;
    for (const int64_t size : *declared.sizes) count *= size;
    file_.statistics[name] = {*declared.sizes, declared.count.value_or(count)};
    file_.statistics[name].longest_row = declared.longest_row;
    // The shares of the parts are unknown.
    const auto composite = parts.composites().find(name);
    if (composite == parts.composites().end()) return;
    const auto share = static_cast<int64_t>(composite->second.size());
    for (const plan::PartOfOperand& part : composite->second) {
      file_.statistics[part.name] = {*declared.sizes, *declared.count / share};
    }
  }

  // Checks the type that a result states. The statements determine its type.
  void check_type(const Declaration& declared) const {
    if (!declared.is_result || !declared.type) return;
    const DType type = file_.written.tensors.at(declared.name).type;
    if (type == *declared.type) return;
    scanner_.fail(declared.place, concat("the values of '", declared.place.text, "' are ",
                                         name_of(type), ", not ", name_of(*declared.type)));
  }

  Scanner scanner_;
  std::string notation_;
  expr::Writer writer_;
  ExprFile file_;
  std::vector<Declaration> declarations_;
};

inline ExprFile parse_expr_file(std::string_view text, expr::Writer writer = expr::Writer::User) {
  return ExprFileParser(text, writer).parse();
}

// The declaration of a tensor under a name, which has the type, format and statistics of the tensor
// `of`, with its sizes if they are known.
inline std::string declaration(const ExprFile& file, std::string_view role, const std::string& name,
                               const std::string& of) {
  const expr::TensorType& type = file.written.tensors.at(of);
  std::string text = concat(role, " ", name, ": ", name_of(type.type), ", ");
  if (!type.format.is_dense()) text += concat(name_of(type.index_type), ", ");
  const auto composite = file.formats.find(of);
  text += composite == file.formats.end() ? type.format.name() : composite->second;
  const auto known = file.statistics.find(of);
  if (role != "operand" || known == file.statistics.end()) return text + "\n";
  text += " [";
  for (const int64_t size : known->second.sizes)
    text += concat(text.back() == '[' ? "" : ", ", size);
  text += "]";
  if (!type.format.is_dense()) text += concat(" nnz ", known->second.count);
  if (known->second.longest_row > 0) text += concat(" longest ", known->second.longest_row);
  return text + "\n";
}

// The resolved program as text that parses back.
inline std::string to_string(const ExprFile& file) {
  const expr::ResolvedProgram& program = file.written;
  std::string text;
  for (const std::string& name : file.declared) text += declaration(file, "operand", name, name);
  for (const expr::Statement& statement : program.statements)
    text += declaration(file, "result", statement.tensor, statement.tensor);
  for (const auto& [index, extent] : file.known_extents)
    text += concat("extent ", index, " = ", extent, "\n");
  return text + expr::to_string(expr::ParsedProgram{program.statements});
}

// The file of the program's gradients towards all operands.
inline std::string gradient_file(const ExprFile& file) {
  const std::vector<std::string>& results = file.written.results;
  const grad::DerivativeStatements derivative =
      grad::gradient(file.written, {file.declared, {results.begin(), results.end()}, {}});
  std::string text;
  for (const DerivativeOperand& operand : derivative.operands)
    text += declaration(file, "operand", operand.name, operand.of);
  return text + expr::to_string(expr::ParsedProgram{derivative.statements});
}

}  // namespace tulle
