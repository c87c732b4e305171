// The operands of a program, with composite operands replaced by their parts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/program.h"
#include "plan/rewrite/decompose.h"
#include "tulle/tulle.h"

namespace tulle {

class OperandParts {
 public:
  // Throws UserError if a format is wrong or a name is given twice.
  explicit OperandParts(const std::vector<TensorSpec>& given);

  // Plain operands and parts, in the order of the given operands.
  const std::vector<TensorSpec>& specs() const { return specs_; }
  const std::vector<Format>& formats() const { return formats_; }
  // The number of the given operand to which a part belongs.
  int owner(int part) const { return owners_[static_cast<size_t>(part)]; }
  // The number of the plain operand or part of this name.
  int number_of(const std::string& name) const;

  // Types by operand name. Composite operands have the format of their merged parts.
  const std::map<std::string, expr::TensorType>& types() const { return types_; }
  const plan::Composites& composites() const { return composites_; }

  // The views of the parts, stored in `room`; returns `given` if no operand is composite.
  const std::vector<TensorView>& views(const std::vector<TensorView>& given,
                                       std::vector<TensorView>& room) const;
  const std::vector<TensorView>& views(std::vector<TensorView>&& given,
                                       std::vector<TensorView>& room) const = delete;

  // For explain: the parts of each composite operand, and their shares of the stored values.
  std::string text_of(const std::vector<TensorView>& given) const;

 private:
  void add(const TensorSpec& given, int owner, const std::string& name, const Format& format);

  std::vector<TensorSpec> specs_;
  std::vector<Format> formats_;
  std::vector<int> owners_;
  std::map<std::string, expr::TensorType> types_;
  plan::Composites composites_;
  std::map<std::string, std::vector<std::string>>
      selectors_;                   // the selectors of composite operands, as text
  std::vector<std::string> given_;  // names of the given operands
};

}  // namespace tulle
