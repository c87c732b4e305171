// Arithmetic, comparisons, conversions, functions and vector reductions.
#include "codegen/arithmetic.h"

#include <cmath>

#include "llvm/IR/Intrinsics.h"

#include "support/check.h"
#include "support/half.h"

namespace tulle::codegen {

using loop::BinaryOp;
using loop::Function;
using loop::ReduceOp;

namespace {

// Min and Max treat signed zeros as equal. IEEE's order would cost two more instructions.
llvm::Value* ignore_zero_signs(llvm::Value* value) {
  if (auto* call = llvm::dyn_cast<llvm::Instruction>(value)) call->setHasNoSignedZeros(true);
  return value;
}

// Allows llvm.vector.reduce any order, so that it reduces as a tree.
llvm::Value* as_tree(llvm::CallInst* reduction) {
  reduction->setHasAllowReassoc(true);
  return reduction;
}

llvm::Intrinsic::ID native_function(Function function) {
  switch (function) {
    case Function::Sqrt:
      return llvm::Intrinsic::sqrt;
    case Function::Floor:
      return llvm::Intrinsic::floor;
    case Function::Ceil:
      return llvm::Intrinsic::ceil;
    case Function::Round:
      return llvm::Intrinsic::roundeven;
    case Function::Trunc:
      return llvm::Intrinsic::trunc;
    case Function::Abs:
      return llvm::Intrinsic::fabs;
    default:
      return llvm::Intrinsic::not_intrinsic;
  }
}

}  // namespace

llvm::Constant* Arithmetic::float_constant(loop::Type type, double value) const {
  if (!is_half(type.scalar)) return llvm::ConstantFP::get(function_.type_of(type), value);
  return llvm::ConstantInt::get(function_.type_of(type), tulle::narrow_to_half(type.scalar, value));
}

llvm::Value* Arithmetic::cast(llvm::Value* value, loop::Type from, loop::Type to) {
  if (is_half(from.scalar) || is_half(to.scalar)) {
    const bool widens = is_half(from.scalar);
    TULLE_CHECK((widens ? to : from).scalar == DType::Float32, "a cast from ", to_string(from),
                " to ", to_string(to));
    return widens ? halves_.widen(value, from.scalar) : halves_.narrow(value, to.scalar);
  }
  llvm::Type* type = function_.type_of(to);
  if (to.is_bool()) {
    if (!from.is_float()) return builder_.CreateIsNotNull(value);
    return builder_.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
  }
  if (from.is_bool()) {
    return to.is_float() ? builder_.CreateUIToFP(value, type) : builder_.CreateZExt(value, type);
  }
  // An out-of-range result is arbitrary but must be a single value; hence the freeze.
  if (from.is_float() && !to.is_float()) {
    return builder_.CreateFreeze(builder_.CreateFPToSI(value, type));
  }
  if (!from.is_float()) {
    return to.is_float() ? builder_.CreateSIToFP(value, type)
                         : builder_.CreateSExtOrTrunc(value, type);
  }
  return builder_.CreateFPCast(value, type);
}

llvm::Value* Arithmetic::compare(BinaryOp op, llvm::Value* a, llvm::Value* b, loop::Type type) {
  using llvm::CmpInst;
  const auto pick = [&](CmpInst::Predicate of_floats, CmpInst::Predicate of_integers,
                        CmpInst::Predicate of_bools) {
    if (type.is_float()) return builder_.CreateFCmp(of_floats, a, b);
    return builder_.CreateICmp(type.is_bool() ? of_bools : of_integers, a, b);
  };
  switch (op) {
    case BinaryOp::Eq:
      return pick(CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ);
    case BinaryOp::Ne:
      return pick(CmpInst::FCMP_UNE, CmpInst::ICMP_NE, CmpInst::ICMP_NE);
    case BinaryOp::Lt:
      return pick(CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT);
    case BinaryOp::Le:
      return pick(CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE);
    case BinaryOp::Gt:
      return pick(CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT);
    case BinaryOp::Ge:
      return pick(CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE);
    default:
      internal_error(loop::text_of(op), " does not compare");
  }
}

llvm::Value* Arithmetic::extremum(bool is_max, llvm::Value* a, llvm::Value* b, loop::Type type) {
  using llvm::Intrinsic::ID;
  if (type.is_bool()) return is_max ? builder_.CreateOr(a, b) : builder_.CreateAnd(a, b);
  const ID integer = is_max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin;
  if (!type.is_float()) return builder_.CreateBinaryIntrinsic(integer, a, b);
  const ID handing_on_nan = is_max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum;
  return ignore_zero_signs(builder_.CreateBinaryIntrinsic(handing_on_nan, a, b));
}

// Divides integers. The processor traps on a divisor of 0 and on the lowest integer divided by -1.
llvm::Value* Arithmetic::divide(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  const bool is_mod = op == BinaryOp::Mod;
  const auto plain = [&](llvm::Value* divisor) {
    return is_mod ? builder_.CreateSRem(a, divisor) : builder_.CreateSDiv(a, divisor);
  };
  const auto* constant = llvm::dyn_cast<llvm::Constant>(b);
  if (const llvm::Constant* lane =
          constant && b->getType()->isVectorTy() ? constant->getSplatValue() : constant) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(lane);
    if (number && !number->isZero() && !number->isMinusOne()) return plain(b);
  }
  llvm::Type* type = a->getType();
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* is_zero = builder_.CreateICmpEQ(b, zero);
  llvm::Value* is_minus_one = builder_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type));
  llvm::Value* result =
      plain(builder_.CreateSelect(builder_.CreateOr(is_zero, is_minus_one), one, b));
  if (is_mod) return builder_.CreateSelect(is_zero, zero, result);
  result = builder_.CreateSelect(is_minus_one, builder_.CreateNeg(a), result);
  return builder_.CreateSelect(is_zero, zero, result);
}

llvm::Value* Arithmetic::binary(BinaryOp op, llvm::Value* a, llvm::Value* b, loop::Type type) {
  const auto shift_count = [&] {
    const auto bits = a->getType()->getScalarSizeInBits();
    return builder_.CreateAnd(b, llvm::ConstantInt::get(b->getType(), bits - 1));
  };
  const bool is_float = type.is_float();
  switch (op) {
    case BinaryOp::Add:
      if (type.is_bool()) return builder_.CreateOr(a, b);
      return is_float ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
    case BinaryOp::Sub:
      return is_float ? builder_.CreateFSub(a, b) : builder_.CreateSub(a, b);
    case BinaryOp::Mul:
      if (type.is_bool()) return builder_.CreateAnd(a, b);
      return is_float ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    case BinaryOp::Div:
      return is_float ? builder_.CreateFDiv(a, b) : divide(op, a, b);
    case BinaryOp::Mod:
      TULLE_CHECK(!is_float, "a remainder of ", to_string(type));
      return divide(op, a, b);
    case BinaryOp::Min:
      return extremum(false, a, b, type);
    case BinaryOp::Max:
      return extremum(true, a, b, type);
    case BinaryOp::BitAnd:
      return builder_.CreateAnd(a, b);
    case BinaryOp::BitOr:
      return builder_.CreateOr(a, b);
    case BinaryOp::BitXor:
      return builder_.CreateXor(a, b);
    case BinaryOp::Shl:
      return builder_.CreateShl(a, shift_count());
    case BinaryOp::Shr:
      return builder_.CreateAShr(a, shift_count());
    default:
      internal_error(loop::text_of(op), " is no arithmetic");
  }
}

llvm::Value* Arithmetic::take_apart(Function function, llvm::Value* x) {
  llvm::Type* type = x->getType();
  const bool is_double = type->getScalarType()->isDoubleTy();
  const int bits = is_double ? 64 : 32, fraction = is_double ? 52 : 23;
  const int64_t bias = is_double ? 1023 : 127;
  llvm::Type* integers = type->getWithNewBitWidth(static_cast<unsigned>(bits));
  auto number = [&](double value) { return llvm::ConstantFP::get(type, value); };
  auto integer = [&](int64_t value) { return llvm::ConstantInt::get(integers, value); };
  // For numbers below 2^fraction, adding this constant leaves the integer part in the low bits.
  const double magic = std::ldexp(1.0, fraction);
  if (function == Function::Pow2) {
    llvm::Value* shifted = builder_.CreateFAdd(x, number(magic * 1.5 + static_cast<double>(bias)));
    llvm::Value* exponent = builder_.CreateShl(builder_.CreateBitCast(shifted, integers), fraction);
    return builder_.CreateBitCast(exponent, type);
  }
  llvm::Value* word = builder_.CreateBitCast(x, integers);
  if (function == Function::Mantissa) {
    llvm::Value* low = builder_.CreateAnd(word, integer((int64_t{1} << fraction) - 1));
    return builder_.CreateBitCast(builder_.CreateOr(low, integer(bias << fraction)), type);
  }
  const int64_t magic_bits = (bias + fraction) << fraction;
  llvm::Value* exponent = builder_.CreateLShr(word, fraction);
  llvm::Value* shifted =
      builder_.CreateBitCast(builder_.CreateOr(exponent, integer(magic_bits)), type);
  return builder_.CreateFSub(shifted, number(magic + static_cast<double>(bias)));
}

llvm::Value* Arithmetic::call(const loop::Call& expr, llvm::ArrayRef<llvm::Value*> args) {
  const bool is_float = expr.type.is_float();
  llvm::Value* x = args[0];
  switch (expr.function) {
    case Function::Neg:
      return is_float ? builder_.CreateFNeg(x) : builder_.CreateNeg(x);
    case Function::Not:
      return builder_.CreateNot(x);
    case Function::Abs:
      if (is_float) break;
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, builder_.getFalse());
    case Function::Fma:
      if (!is_float) return builder_.CreateAdd(builder_.CreateMul(x, args[1]), args[2]);
      return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, args);
    default:
      break;
  }
  TULLE_CHECK(is_float, loop::text_of(expr.function), " of ", to_string(expr.type));
  if (expr.function == Function::Pow2 || expr.function == Function::Exponent ||
      expr.function == Function::Mantissa) {
    return take_apart(expr.function, x);
  }
  if (const auto native = native_function(expr.function)) {
    return builder_.CreateUnaryIntrinsic(native, x);
  }
  if (!expr.type.is_vector()) return target_.library_call(expr.function, x);
  llvm::Value* result = llvm::PoisonValue::get(x->getType());
  for (uint64_t lane = 0; lane < static_cast<uint64_t>(expr.type.lanes); ++lane) {
    llvm::Value* y = target_.library_call(expr.function, builder_.CreateExtractElement(x, lane));
    result = builder_.CreateInsertElement(result, y, lane);
  }
  return result;
}

llvm::Value* Arithmetic::combine(ReduceOp op, llvm::Value* a, llvm::Value* b, loop::Type type) {
  switch (op) {
    case ReduceOp::Add:
      return binary(BinaryOp::Add, a, b, type);
    case ReduceOp::Mul:
      return binary(BinaryOp::Mul, a, b, type);
    case ReduceOp::Min:
      return extremum(false, a, b, type);
    case ReduceOp::Max:
      return extremum(true, a, b, type);
    case ReduceOp::And:
      return binary(BinaryOp::BitAnd, a, b, type);
    case ReduceOp::Or:
      return binary(BinaryOp::BitOr, a, b, type);
  }
  internal_error("unknown reduction");
}

llvm::Value* Arithmetic::vector_reduce(ReduceOp op, llvm::Value* value, loop::Type type) {
  if (!type.is_vector()) return value;
  const bool is_float = type.is_float();
  const bool is_bool = type.is_bool();
  llvm::Type* scalar = function_.type_of(type.with_lanes(1));
  switch (op) {
    case ReduceOp::Add:
      if (is_bool) return builder_.CreateOrReduce(value);
      if (!is_float) return builder_.CreateAddReduce(value);
      return as_tree(builder_.CreateFAddReduce(llvm::ConstantFP::getNegativeZero(scalar), value));
    case ReduceOp::Mul:
      if (is_bool) return builder_.CreateAndReduce(value);
      if (!is_float) return builder_.CreateMulReduce(value);
      return as_tree(builder_.CreateFMulReduce(llvm::ConstantFP::get(scalar, 1.0), value));
    case ReduceOp::Min:
      if (is_bool) return builder_.CreateAndReduce(value);
      if (!is_float) return builder_.CreateIntMinReduce(value, true);
      return ignore_zero_signs(builder_.CreateFPMinimumReduce(value));
    case ReduceOp::Max:
      if (is_bool) return builder_.CreateOrReduce(value);
      if (!is_float) return builder_.CreateIntMaxReduce(value, true);
      return ignore_zero_signs(builder_.CreateFPMaximumReduce(value));
    case ReduceOp::And:
      return builder_.CreateAndReduce(value);
    case ReduceOp::Or:
      return builder_.CreateOrReduce(value);
  }
  internal_error("unknown reduction");
}

}  // namespace tulle::codegen
