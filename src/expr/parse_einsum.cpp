// The parser of einsum equations, which become a statement of index notation.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "expr/program.h"
#include "support/check.h"
#include "support/source.h"

namespace tulle::expr {

namespace {

// The subscripts of one operand or of the output: letters, and at most one ellipsis.
struct Labels {
  std::vector<std::string> letters = {};
  std::optional<size_t> ellipsis = {};  // it precedes letters[*ellipsis]
  std::vector<Span> places = {};        // of the letters
  Span ellipsis_place = {};
  Span all = {};
};

class EinsumParser {
 public:
  EinsumParser(std::string_view equation, const std::vector<std::string>& operands,
               const std::vector<int>& ranks, const Dimensions& ones)
      : source_(std::make_shared<const Source>(Source{std::string(equation), "einsum"})),
        equation_(source_->text),
        operands_(operands),
        ranks_(ranks),
        ones_(ones) {}

  ParsedProgram parse(std::string_view out) {
    inputs_.push_back(labels());
    while (accept(",")) inputs_.push_back(labels());
    std::optional<Labels> output;
    if (accept("->")) output = labels();
    skip_spaces();
    if (at_ < equation_.size()) {
      const Span wrong = span(at_, at_ + character_length(equation_.substr(at_)));
      fail_at(wrong, concat("unexpected '", wrong.text(), "'; expected ",
                            output ? "letters or '...'" : "letters, '...', ',' or '->'"));
    }
    check_operands();
    if (output) {
      check_output(*output);
    } else {
      output = implicit_output();
    }
    const Expanded left = expand(*output, ellipsis_dimensions_);
    return {{{std::string(out), left.indices, product(), {output->all, left.places}}}};
  }

 private:
  Labels labels() {
    skip_spaces();
    Labels labels;
    const size_t begin = at_;
    size_t end = at_;
    for (;; skip_spaces()) {
      if (accept("...")) {
        labels.ellipsis_place = span(at_ - 3, at_);
        if (labels.ellipsis) fail_at(labels.ellipsis_place, "'...' is given twice; write it once");
        labels.ellipsis = labels.letters.size();
      } else if (at_ < equation_.size() &&
                 std::isalpha(static_cast<unsigned char>(equation_[at_]))) {
        labels.letters.emplace_back(1, equation_[at_++]);
        labels.places.push_back(span(at_ - 1, at_));
      } else {
        labels.all = span(begin, end);
        return labels;
      }
      end = at_;
    }
  }

  void check_operands() {
    if (inputs_.size() != operands_.size()) {
      fail_at(span(0, equation_.size()),
              concat("the equation is for ", inputs_.size(),
                     inputs_.size() == 1 ? " operand" : " operands", ", but ", operands_.size(),
                     operands_.size() == 1 ? " was given" : " were given"));
    }
    for (size_t n = 0; n < inputs_.size(); ++n) {
      const auto letters = static_cast<int>(inputs_[n].letters.size());
      const int rest = ranks_[n] - letters;
      if (rest < 0 || (rest > 0 && !inputs_[n].ellipsis)) {
        fail_at(inputs_[n].all,
                concat(called(n), " has rank ", ranks_[n], ", but the number of its subscripts is ",
                       letters,
                       rest > 0 ? "; give one for each dimension, or '...' for the others"
                                : "; give one for each dimension"));
      }
      ellipsis_dimensions_ = std::max(ellipsis_dimensions_, inputs_[n].ellipsis ? rest : 0);
    }
  }

  static std::string called(size_t operand) { return concat("operand ", operand + 1); }

  // Subscripts with the ellipsis replaced by indices.
  struct Expanded {
    std::vector<std::string> indices;
    std::vector<Span> places;
  };

  // The ellipsis stands for `count` dimensions; as in broadcasting, these are the last of all
  // ellipsis dimensions.
  Expanded expand(const Labels& labels, int count) const {
    Expanded expanded{labels.letters, labels.places};
    expanded.places.resize(labels.letters.size());
    if (!labels.ellipsis) return expanded;
    std::vector<std::string> hidden;
    for (int d = ellipsis_dimensions_ - count; d < ellipsis_dimensions_; ++d) {
      hidden.push_back(concat("e", d));
    }
    const auto at = static_cast<ptrdiff_t>(*labels.ellipsis);
    expanded.indices.insert(expanded.indices.begin() + at, hidden.begin(), hidden.end());
    expanded.places.insert(expanded.places.begin() + at, hidden.size(), labels.ellipsis_place);
    return expanded;
  }

  Expanded expand_input(size_t n) const {
    return expand(inputs_[n], ranks_[n] - static_cast<int>(inputs_[n].letters.size()));
  }

  // The indices with a dimension that `ones` does not list.
  std::set<std::string> larger_indices() const {
    std::set<std::string> larger;
    for (size_t n = 0; n < inputs_.size(); ++n) {
      const std::vector<std::string> indices = expand_input(n).indices;
      for (size_t d = 0; d < indices.size(); ++d) {
        if (!ones_.contains({n, d})) larger.insert(indices[d]);
      }
    }
    return larger;
  }

  Expr product() const {
    const std::set<std::string> larger = larger_indices();
    int stretched = 0;
    Expr product;
    for (size_t n = 0; n < inputs_.size(); ++n) {
      Expanded subscripts = expand_input(n);
      for (size_t d = 0; d < subscripts.indices.size(); ++d) {
        std::string& index = subscripts.indices[d];
        if (ones_.contains({n, d}) && larger.contains(index)) index = concat("one", stretched++);
      }
      const Expr access =
          placed(Access::make(static_cast<int>(n), operands_[n], subscripts.indices),
                 {inputs_[n].all, subscripts.places, called(n)});
      if (!product) {
        product = access;
        continue;
      }
      const size_t begin = inputs_[0].all.offset;
      const size_t end = inputs_[n].all.offset + inputs_[n].all.length;
      product = placed(Binary::make(BinaryOp::Mul, product, access), {span(begin, end)});
    }
    return product;
  }

  // The number of uses of each letter in the operands, capitals first.
  std::map<std::string, int> letter_counts() const {
    std::map<std::string, int> counts;
    for (const Labels& labels : inputs_) {
      for (const std::string& letter : labels.letters) ++counts[letter];
    }
    return counts;
  }

  void check_output(const Labels& output) const {
    const std::map<std::string, int> counts = letter_counts();
    std::map<std::string, int> seen;
    for (size_t at = 0; at < output.letters.size(); ++at) {
      const std::string& letter = output.letters[at];
      if (!counts.contains(letter)) {
        fail_at(output.places[at],
                concat("the output has '", letter, "', which no operand has; remove it"));
      }
      if (++seen[letter] > 1) {
        fail_at(output.places[at], concat("the output has '", letter, "' twice; write it once"));
      }
    }
  }

  // The ellipsis, then the letters with a single use, in order.
  Labels implicit_output() const {
    Labels output{.ellipsis = 0, .all = span(0, equation_.size())};
    for (const auto& [letter, count] : letter_counts()) {
      if (count == 1) output.letters.push_back(letter);
    }
    return output;
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

  Span span(size_t begin, size_t end) const { return {source_, begin, end - begin}; }

  std::shared_ptr<const Source> source_;
  std::string_view equation_;
  const std::vector<std::string>& operands_;
  const std::vector<int>& ranks_;
  const Dimensions& ones_;
  size_t at_ = 0;
  std::vector<Labels> inputs_;
  int ellipsis_dimensions_ = 0;
};

}  // namespace

ParsedProgram parse_einsum(std::string_view equation, const std::vector<std::string>& operands,
                           const std::vector<int>& ranks, std::string_view out,
                           const Dimensions& ones) {
  TULLE_CHECK(operands.size() == ranks.size());
  return EinsumParser(equation, operands, ranks, ones).parse(out);
}

}  // namespace tulle::expr
