// The parser of einsum equations, which become a statement of index notation.
#include <algorithm>
#include <cctype>
#include <map>

#include "expr/program.h"
#include "support/check.h"
#include "support/scanner.h"

namespace tulle::expr {

namespace {

// The subscripts of one operand, or of the output: letters with an ellipsis at most once.
struct Labels {
  std::vector<std::string> letters = {};
  std::optional<size_t> ellipsis = {};  // stands before letters[*ellipsis]
  size_t begin = 0, end = 0;            // in the equation
};

class EinsumParser {
 public:
  EinsumParser(std::string_view equation, const std::vector<std::string>& operands,
               const std::vector<int>& ranks)
      : equation_(equation), operands_(operands), ranks_(ranks) {}

  Program parse(std::string_view out) {
    inputs_.push_back(labels());
    while (accept(",")) inputs_.push_back(labels());
    std::optional<Labels> output;
    if (accept("->")) output = labels();
    skip_spaces();
    if (at_ < equation_.size()) {
      fail(
          at_, 1,
          concat("'", equation_[at_], "' cannot stand here; expected letters, '...', ',' or '->'"));
    }
    check_operands();
    Statement statement{std::string(out), {}, product()};
    if (output) check_output(*output);
    statement.indices = output ? expand(*output) : implicit_output();
    return {{statement}};
  }

 private:
  Labels labels() {
    skip_spaces();
    Labels labels{.begin = at_};
    for (;; skip_spaces()) {
      if (accept("...")) {
        if (labels.ellipsis) fail(at_ - 3, 3, "'...' stands twice; once is enough");
        labels.ellipsis = labels.letters.size();
      } else if (at_ < equation_.size() &&
                 std::isalpha(static_cast<unsigned char>(equation_[at_]))) {
        labels.letters.emplace_back(1, equation_[at_++]);
      } else {
        labels.end = at_;
        return labels;
      }
    }
  }

  void check_operands() {
    if (inputs_.size() != operands_.size()) {
      fail(0, equation_.size(),
           concat("the equation is for ", inputs_.size(), " operands, but ", operands_.size(),
                  " were given"));
    }
    for (size_t n = 0; n < inputs_.size(); ++n) {
      const int letters = static_cast<int>(inputs_[n].letters.size());
      const int rest = ranks_[n] - letters;
      if (rest < 0 || (rest > 0 && !inputs_[n].ellipsis)) {
        fail(inputs_[n].begin, inputs_[n].end - inputs_[n].begin,
             concat("operand ", n, " has ", ranks_[n], " dimensions, but ", letters, " subscripts",
                    rest > 0 ? "; put '...' for the others" : ""));
      }
      ellipsis_dimensions_ = std::max(ellipsis_dimensions_, inputs_[n].ellipsis ? rest : 0);
    }
  }

  // Of an operand whose ellipsis stands for `count` dimensions: the last of all, as in
  // broadcasting.
  std::vector<std::string> expand(const Labels& labels, int count) const {
    std::vector<std::string> indices = labels.letters;
    if (!labels.ellipsis) return indices;
    std::vector<std::string> hidden;
    for (int d = ellipsis_dimensions_ - count; d < ellipsis_dimensions_; ++d) {
      hidden.push_back(concat("e", d));
    }
    indices.insert(indices.begin() + static_cast<ptrdiff_t>(*labels.ellipsis), hidden.begin(),
                   hidden.end());
    return indices;
  }

  std::vector<std::string> expand(const Labels& output) const {
    return expand(output, ellipsis_dimensions_);
  }

  Expr product() const {
    Expr product;
    for (size_t n = 0; n < inputs_.size(); ++n) {
      const int hidden = ranks_[n] - static_cast<int>(inputs_[n].letters.size());
      const Expr access =
          Access::make(static_cast<int>(n), operands_[n], expand(inputs_[n], hidden));
      product = product ? Binary::make(BinaryOp::Mul, product, access) : access;
    }
    return product;
  }

  // How often each letter stands on the left, capitals first.
  std::map<std::string, int> letter_counts() const {
    std::map<std::string, int> counts;
    for (const Labels& labels : inputs_) {
      for (const std::string& letter : labels.letters) ++counts[letter];
    }
    return counts;
  }

  void check_output(const Labels& output) const {
    std::map<std::string, int> counts = letter_counts();
    std::map<std::string, int> seen;
    for (const std::string& letter : output.letters) {
      const size_t place = equation_.find(letter, output.begin);
      if (!counts.contains(letter)) {
        fail(place, 1, concat("the output has '", letter, "', which no operand has"));
      }
      if (++seen[letter] > 1) {
        fail(equation_.rfind(letter), 1,
             concat("the output has '", letter, "' twice; once is enough"));
      }
    }
  }

  // The ellipsis, then the letters that stand once, in order.
  std::vector<std::string> implicit_output() const {
    Labels output{.ellipsis = 0};
    for (const auto& [letter, count] : letter_counts()) {
      if (count == 1) output.letters.push_back(letter);
    }
    return expand(output);
  }

  void skip_spaces() {
    while (at_ < equation_.size() && std::isspace(static_cast<unsigned char>(equation_[at_])))
      ++at_;
  }

  bool accept(std::string_view text) {
    skip_spaces();
    if (!equation_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  [[noreturn]] void fail(size_t offset, size_t length, const std::string& message) const {
    fail_at(equation_, offset, length, "einsum", message);
  }

  std::string_view equation_;
  const std::vector<std::string>& operands_;
  const std::vector<int>& ranks_;
  size_t at_ = 0;
  std::vector<Labels> inputs_;
  int ellipsis_dimensions_ = 0;
};

}  // namespace

Program parse_einsum(std::string_view equation, const std::vector<std::string>& operands,
                     const std::vector<int>& ranks, std::string_view out) {
  TULLE_CHECK(operands.size() == ranks.size());
  return EinsumParser(equation, operands, ranks).parse(out);
}

}  // namespace tulle::expr
