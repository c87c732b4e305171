// Reads operands and computes values.
#include "lower/values.h"

#include <map>
#include <optional>

#include "lower/element_functions.h"
#include "lower/presence.h"
#include "lower/repeated_functions.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::lower {

using expr::ElementFunction;
using loop::Binary;
using loop::BinaryOp;
using loop::Cast;
using loop::Expr;
using loop::Load;

namespace {

// Values at one point of a kernel.
class Values {
 public:
  // `whole` is the expression whose parts of() computes; null for single loads.
  Values(const KernelContext& kernel, const KernelScope& scope, Emitter& out,
         const expr::Expr& whole = {})
      : kernel_(kernel), scope_(scope), out_(out), presence_(kernel, scope, out) {
    if (whole) repeated_.emplace(whole);
  }

  Expr of(const expr::Expr& expr) {
    if (const auto* literal = expr.as<expr::Literal>()) return literal_of(*literal);
    if (const auto* access = expr.as<expr::Access>()) return load(*access);
    if (const auto* choose = expr.as<expr::Choose>()) return choice_of(*choose);
    if (const auto* index = expr.as<expr::IndexValue>()) {
      const Coordinates& coordinates = kernel_.coordinates;
      return index->is_extent ? coordinates.extent(index->index)
                              : coordinates.coordinate(index->index, scope_.coordinates);
    }
    if (expr.as<expr::Unary>()) return function_of(expr);
    TULLE_CHECK(expr.as<expr::Binary>(), "a sum inside an assignment");
    return binary_of(expr);
  }

  Expr load(const expr::Access& access) {
    const TensorCode& tensor = kernel_.code(access.tensor);
    const ReadsInstead& instead = scope_.reads;
    if (const auto known = instead.values.find(access.id); known != instead.values.end())
      return known->second;
    if (const auto lane = instead.partners.find(access.id); lane != instead.partners.end())
      return load_of_partner(access, lane->second);
    if (tensor.scalar) return Cast::make(compute_type(tensor.scalar.type().scalar), tensor.scalar);
    if (const auto here = scope_.here.find(access.id); here != scope_.here.end())
      return load_if(here->second, access);
    const Cursor& cursor = scope_.cursors.at(access.id);
    TULLE_CHECK(cursor.level == static_cast<int>(tensor.levels.size()), "level ", cursor.level,
                " of ", access.tensor, " is not fixed where its value is read");
    if (!cursor.at.is_single()) return sum_of_run(access, cursor.at);
    const Expr at = tensor.base ? tensor.base + cursor.at.begin : cursor.at.begin;
    const Expr value = out_.let(access.tensor + "_value", read(tensor, at));
    const auto mask = instead.masks.find(access.id);
    return mask == instead.masks.end()
               ? value
               : loop::Select::make(mask->second, value, loop::constant(value.type(), 0));
  }

 private:
  static Expr literal_of(const expr::Literal& literal) {
    const loop::Type type{literal.type, 1};
    if (type.is_float()) return loop::FloatConst::make(literal.value, type);
    return loop::IntConst::make(static_cast<int64_t>(literal.value), type);
  }

  Expr choice_of(const expr::Choose& choose) {
    const Expr condition = of(choose.condition);
    const Expr yes = Cast::make(choose.type, of(choose.yes));
    const Expr no = Cast::make(choose.type, of(choose.no));
    const bool is_bool = condition.type().is_bool();
    const Expr holds = is_bool ? condition : condition != loop::constant(condition.type(), 0);
    return loop::Select::make(holds, yes, no);
  }

  Expr unary_of(const expr::Unary& unary, DType element) {
    const loop::Type type{element, 1};
    if (unary.function == ElementFunction::Ones) {
      const Expr one = loop::IntConst::make(1, type), zero = loop::IntConst::make(0, type);
      const Expr exists = presence_.of(unary.value);
      return exists.as<loop::IntConst>() ? one : loop::Select::make(exists, one, zero);
    }
    if (unary.function == ElementFunction::Position) {
      const Cursor& cursor = scope_.cursors.at(unary.value.as<expr::Access>()->id);
      const std::string& tensor = cursor.access->tensor;
      TULLE_CHECK(cursor.level == static_cast<int>(kernel_.code(tensor).levels.size()) &&
                      cursor.at.is_single(),
                  "an entry of ", tensor, " whose position is asked for");
      const auto here = scope_.here.find(cursor.access->id);
      return here == scope_.here.end()
                 ? cursor.at.begin
                 : loop::Select::make(here->second, cursor.at.begin, loop::IntConst::make(0));
    }
    const Expr argument = Cast::make(type.scalar, of(unary.value));
    return apply(unary.function, out_.let("x", argument));
  }

  // Computes a function that the expression applies several times to the same value only once.
  Expr function_of(const expr::Expr& expr) {
    const int number = repeated_ ? repeated_->number_of(expr) : -1;
    if (number < 0) return unary_of(*expr.as<expr::Unary>(), expr.type());
    const auto known = computed_.find(number);
    if (known != computed_.end()) return known->second;
    const Expr value = out_.let("value", unary_of(*expr.as<expr::Unary>(), expr.type()));
    return computed_.emplace(number, value).first->second;
  }

  Expr binary_of(const expr::Expr& expr) {
    const auto& binary = *expr.as<expr::Binary>();
    const loop::Type type{expr.type(), 1};
    const bool masks = binary.op == expr::BinaryOp::Within;
    Expr second = Cast::make(type.scalar, of(binary.b));
    if (binary.op == expr::BinaryOp::Div) {
      // An absent denominator is +0, also after a negation.
      const Expr exists = presence_.of(binary.b);
      if (!exists.as<loop::IntConst>())
        second = loop::Select::make(exists, second, loop::constant(type, 0));
    }
    const Expr value =
        masks ? second : apply(binary.op, Cast::make(type.scalar, of(binary.a)), second);
    const bool may_be_absent =
        masks || binary.op == expr::BinaryOp::Div || binary.op == expr::BinaryOp::Mul;
    if (!may_be_absent) return value;
    const Expr exists = presence_.of(expr);
    return exists.as<loop::IntConst>() ? value
                                       : loop::Select::make(exists, value, loop::constant(type, 0));
  }

  static Expr read(const TensorCode& tensor, const Expr& at) {
    return Cast::make(compute_type(tensor.values->element), Load::make(tensor.values, at));
  }

  // The value, or zero where the condition is false. Reads nothing there.
  Expr load_if(const Expr& condition, const expr::Access& access) {
    const DType type = compute_type(kernel_.code(access.tensor).values->element);
    const Expr value = out_.declare(access.tensor + "_value", loop::constant({type, 1}, 0));
    Emitter inside = out_.nested();
    KernelScope certain = scope_;
    certain.here.erase(access.id);
    inside.assign(value, Values(kernel_, certain, inside).load(access));
    out_.add(loop::If::make(condition, inside.take()));
    return value;
  }

  Expr load_of_partner(const expr::Access& access, const Partner& partner) {
    KernelScope own = scope_;
    own.reads.partners.erase(access.id);
    const Expr value = Values(kernel_, own, out_).load(access);
    return out_.let("other",
                    loop::LaneShuffle::make(loop::ShuffleMode::Xor, value,
                                            loop::IntConst::make(partner.distance), partner.width));
  }

  // Adds up duplicates.
  Expr sum_of_run(const expr::Access& access, const Positions& run) {
    const TensorCode& tensor = kernel_.code(access.tensor);
    const DType type = compute_type(tensor.values->element);
    const Expr sum = out_.declare(access.tensor + "_sum", loop::constant({type, 1}, 0));
    const std::string variable = out_.names().fresh("q");
    const Expr term = read(tensor, loop::Var::make(variable));
    Emitter body = out_.nested();
    body.assign(sum, Binary::make(type == DType::Bool ? BinaryOp::Or : BinaryOp::Add, sum, term));
    out_.add(loop::For::make(variable, run.begin, run.end, body.take()));
    return sum;
  }

  const KernelContext& kernel_;
  const KernelScope& scope_;
  Emitter& out_;
  Presence presence_;
  std::optional<RepeatedFunctions> repeated_;
  std::map<int, Expr> computed_;  // repeated functions, by their number
};

}  // namespace

Expr value_of(const KernelContext& kernel, const expr::Expr& expr, const KernelScope& scope,
              Emitter& out) {
  return Values(kernel, scope, out, expr).of(expr);
}

Expr load(const KernelContext& kernel, const expr::Access& access, const KernelScope& scope,
          Emitter& out) {
  return Values(kernel, scope, out).load(access);
}

}  // namespace tulle::lower
