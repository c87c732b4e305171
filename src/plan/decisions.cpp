// Parses and prints decisions.
#include "plan/decisions.h"

#include "support/check.h"
#include "support/scanner.h"

namespace tulle::plan {

namespace {

class DecisionParser {
 public:
  DecisionParser(std::string_view text, size_t begin)
      : scanner_(blanked_before(text, begin), "plan",
                 {.newlines = true, .comment = "#", .dotted_names = true}) {}

  Decisions parse() {
    while (!scanner_.at_end()) {
      if (scanner_.peek().kind != TokenKind::Newline) line();
      if (!ends_line()) scanner_.fail(scanner_.peek(), "expected the end of the line");
      scanner_.next();
    }
    add_last();
    return std::move(decisions_);
  }

 private:
  bool ends_line() const { return scanner_.at_end() || scanner_.peek().kind == TokenKind::Newline; }

  void line() {
    const Token name = scanner_.expect(TokenKind::Identifier, "C: loops i j, or schedule: ...");
    scanner_.expect(":");
    if (scanner_.peek().is("loops") && !scanner_.peek(1).is("(")) {
      add_last();
      tensor_ = name.text;
      last_ = Decision{.place = scanner_.span_of(name)};
      scanner_.next();
      while (!ends_line()) {
        const Token loop = scanner_.expect(TokenKind::Identifier, "a loop");
        last_->order.emplace_back(loop.text);
        last_->places.push_back(scanner_.span_of(loop));
      }
      return;
    }
    if (!name.is("schedule")) scanner_.fail(scanner_.peek(), "expected loops and their names");
    if (!last_ || last_->schedule) scanner_.fail(name, "a schedule must directly follow its loops");
    schedule();
  }

  void schedule() {
    if (scanner_.accept("none")) {
      last_->schedule = schedule::Schedule();
      return;
    }
    const size_t begin = scanner_.peek().offset;
    while (!ends_line()) scanner_.next();
    const std::string_view text = scanner_.source().substr(0, scanner_.peek().offset);
    last_->schedule = schedule::parse_schedule(blanked_before(text, begin));
  }

  void add_last() {
    if (last_) decisions_.add(tensor_, std::move(*last_));
    last_.reset();
  }

  Scanner scanner_;
  Decisions decisions_;
  std::string tensor_;
  std::optional<Decision> last_;
};

}  // namespace

void Decisions::add(const std::string& tensor, Decision decision) {
  waiting_[tensor].push_back(std::move(decision));
}

std::optional<Decision> Decisions::take(const std::string& tensor) {
  const auto found = waiting_.find(tensor);
  if (found == waiting_.end() || found->second.empty()) return std::nullopt;
  Decision decision = std::move(found->second.front());
  found->second.pop_front();
  return decision;
}

bool Decisions::has(const std::string& tensor) const {
  const auto found = waiting_.find(tensor);
  return found != waiting_.end() && !found->second.empty();
}

void Decisions::require_all_taken() const {
  for (const auto& [tensor, decisions] : waiting_) {
    if (decisions.empty()) continue;
    fail_at(decisions.front().place,
            concat("no further statement of the plan assigns '", tensor, "'; remove these lines"));
  }
}

Decisions parse_decisions(std::string_view text, size_t begin) {
  return DecisionParser(text, begin).parse();
}

std::string loops_line(const std::string& tensor, const std::vector<std::string>& order) {
  std::string text = concat(tensor, ": loops");
  for (const std::string& var : order) text += " " + var;
  return text;
}

std::string schedule_line(const schedule::Schedule& schedule) {
  const std::string text = schedule::to_string(schedule);
  return concat("schedule: ", text.empty() ? "none" : text);
}

}  // namespace tulle::plan
