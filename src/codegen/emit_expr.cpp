// Expressions: constants, variables, conversions, short-circuit logic and vectors.
#include <algorithm>

#include "codegen/library.h"
#include "codegen/llvm_emitter.h"
#include "support/check.h"
#include "support/half.h"

namespace tulle::codegen {

using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;

namespace {

// Whether evaluating the expression unconditionally could fault or be expensive: it loads, divides
// or calls the C library.
bool is_guarded(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::IntConst:
    case ExprKind::FloatConst:
    case ExprKind::Var:
      return false;
    case ExprKind::Binary: {
      const auto* node = expr.as<loop::Binary>();
      const bool divides = node->op == BinaryOp::Div || node->op == BinaryOp::Mod;
      return (divides && !expr.type().is_float()) || is_guarded(node->a) || is_guarded(node->b);
    }
    case ExprKind::Select: {
      const auto* node = expr.as<loop::Select>();
      return is_guarded(node->condition) || is_guarded(node->yes) || is_guarded(node->no);
    }
    case ExprKind::Cast:
      return is_guarded(expr.as<loop::Cast>()->value);
    case ExprKind::Call: {
      const auto* node = expr.as<loop::Call>();
      const auto& args = node->args;
      return is_library_function(node->function) ||
             std::any_of(args.begin(), args.end(), is_guarded);
    }
    case ExprKind::Ramp:
      return is_guarded(expr.as<loop::Ramp>()->base) || is_guarded(expr.as<loop::Ramp>()->stride);
    case ExprKind::Broadcast:
      return is_guarded(expr.as<loop::Broadcast>()->value);
    case ExprKind::VectorReduce:
      return is_guarded(expr.as<loop::VectorReduce>()->value);
    default:
      return true;
  }
}

llvm::Type* scalar_type(llvm::LLVMContext& context, DType type) {
  switch (type) {
    case DType::Bool:
      return llvm::Type::getInt1Ty(context);
    case DType::Int32:
      return llvm::Type::getInt32Ty(context);
    case DType::Int64:
      return llvm::Type::getInt64Ty(context);
    case DType::Float16:
    case DType::BFloat16:
      return llvm::Type::getInt16Ty(context);
    case DType::Float32:
      return llvm::Type::getFloatTy(context);
    case DType::Float64:
      return llvm::Type::getDoubleTy(context);
  }
  internal_error("unknown element type");
}

llvm::Type* with_lanes(llvm::Type* scalar, int lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes));
}

}  // namespace

llvm::Type* LlvmEmitter::type_of(loop::Type type) const {
  return with_lanes(scalar_type(context_, type.scalar), type.lanes);
}

llvm::Type* LlvmEmitter::memory_type_of(loop::Type type) const {
  if (!type.is_bool()) return type_of(type);
  return with_lanes(llvm::Type::getInt8Ty(context_), type.lanes);
}

llvm::Value* LlvmEmitter::to_memory(llvm::Value* value, loop::Type type) {
  return type.is_bool() ? builder_.CreateZExt(value, memory_type_of(type)) : value;
}

llvm::Value* LlvmEmitter::from_memory(llvm::Value* value, loop::Type type) {
  return type.is_bool() ? builder_.CreateIsNotNull(value) : value;
}

llvm::Constant* LlvmEmitter::float_constant(loop::Type type, double value) const {
  if (!is_half(type.scalar)) return llvm::ConstantFP::get(type_of(type), value);
  return llvm::ConstantInt::get(type_of(type), tulle::narrow_to_half(type.scalar, value));
}

llvm::Value* LlvmEmitter::cast(llvm::Value* value, loop::Type from, loop::Type to) {
  if (is_half(from.scalar) || is_half(to.scalar)) {
    const bool widens = is_half(from.scalar);
    TULLE_CHECK((widens ? to : from).scalar == DType::Float32, "a cast from ", to_string(from),
                " to ", to_string(to));
    return widens ? widen_half(value, from.scalar) : narrow_to_half(value, to.scalar);
  }
  llvm::Type* type = type_of(to);
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

llvm::Value* LlvmEmitter::logical(BinaryOp op, const Expr& a, const Expr& b) {
  const bool is_and = op == BinaryOp::And;
  llvm::Value* left = value(a);
  if (a.type().is_vector()) {
    llvm::Value* right = value(b);
    return is_and ? builder_.CreateAnd(left, right) : builder_.CreateOr(left, right);
  }
  if (!is_guarded(b)) {
    llvm::Value* right = value(b);
    return is_and ? builder_.CreateLogicalAnd(left, right) : builder_.CreateLogicalOr(left, right);
  }
  llvm::BasicBlock* from = builder_.GetInsertBlock();
  llvm::BasicBlock* more = new_block(is_and ? "and" : "or");
  llvm::BasicBlock* join = new_block("join");
  builder_.CreateCondBr(left, is_and ? more : join, is_and ? join : more);
  builder_.SetInsertPoint(more);
  llvm::Value* right = value(b);
  llvm::BasicBlock* to = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  llvm::PHINode* result = builder_.CreatePHI(builder_.getInt1Ty(), 2);
  result->addIncoming(builder_.getInt1(!is_and), from);
  result->addIncoming(right, to);
  return result;
}

llvm::Value* LlvmEmitter::select(const loop::Select& expr) {
  llvm::Value* condition = value(expr.condition);
  const bool lazy = !expr.type.is_vector() && (is_guarded(expr.yes) || is_guarded(expr.no));
  if (!lazy) return builder_.CreateSelect(condition, value(expr.yes), value(expr.no));
  llvm::Value *yes = nullptr, *no = nullptr;
  llvm::BasicBlock *from_yes = nullptr, *from_no = nullptr;
  branch(
      condition,
      [&] {
        yes = value(expr.yes);
        from_yes = builder_.GetInsertBlock();
      },
      [&] {
        no = value(expr.no);
        from_no = builder_.GetInsertBlock();
      });
  llvm::PHINode* result = builder_.CreatePHI(yes->getType(), 2);
  result->addIncoming(yes, from_yes);
  result->addIncoming(no, from_no);
  return result;
}

llvm::Value* LlvmEmitter::value(const Expr& expr) {
  const loop::Type type = expr.type();
  switch (expr->kind) {
    case ExprKind::IntConst: {
      llvm::Type* integer = type_of(type);
      const auto bits = integer->getScalarSizeInBits();
      const auto number = static_cast<uint64_t>(expr.as<loop::IntConst>()->value);
      return llvm::ConstantInt::get(integer, llvm::APInt(bits, number, true, true));
    }
    case ExprKind::FloatConst:
      return float_constant(type, expr.as<loop::FloatConst>()->value);
    case ExprKind::Var: {
      const std::string& name = expr.as<loop::Var>()->name;
      if (const auto slot = variables_.find(name); slot != variables_.end()) {
        return builder_.CreateLoad(slot->second->getAllocatedType(), slot->second, name);
      }
      const auto bound = values_.find(name);
      TULLE_CHECK(bound != values_.end(), "the variable ", name, " is not in scope");
      return bound->second;
    }
    case ExprKind::Binary: {
      const auto* node = expr.as<loop::Binary>();
      if (loop::is_logical(node->op)) return logical(node->op, node->a, node->b);
      llvm::Value* a = value(node->a);
      llvm::Value* b = value(node->b);
      const loop::Type operand = node->a.type();
      return loop::is_comparison(node->op) ? compare(node->op, a, b, operand)
                                           : arithmetic(node->op, a, b, operand);
    }
    case ExprKind::Select:
      return select(*expr.as<loop::Select>());
    case ExprKind::Cast: {
      const Expr& from = expr.as<loop::Cast>()->value;
      return cast(value(from), from.type(), type);
    }
    case ExprKind::Call:
      return call(*expr.as<loop::Call>());
    case ExprKind::Load:
      return load(*expr.as<loop::Load>());
    case ExprKind::Ramp: {
      const auto* node = expr.as<loop::Ramp>();
      const auto lanes = static_cast<unsigned>(type.lanes);
      llvm::Value* base = builder_.CreateVectorSplat(lanes, value(node->base));
      llvm::Value* stride = builder_.CreateVectorSplat(lanes, value(node->stride));
      llvm::Value* steps = builder_.CreateStepVector(type_of(type));
      return builder_.CreateAdd(base, builder_.CreateMul(steps, stride));
    }
    case ExprKind::Broadcast:
      return builder_.CreateVectorSplat(static_cast<unsigned>(type.lanes),
                                        value(expr.as<loop::Broadcast>()->value));
    case ExprKind::VectorReduce: {
      const auto* node = expr.as<loop::VectorReduce>();
      return vector_reduce(node->op, value(node->value), node->value.type());
    }
    case ExprKind::LaneReduce:
      return lane_reduce(*expr.as<loop::LaneReduce>());
    case ExprKind::LaneShuffle:
      return lane_shuffle(*expr.as<loop::LaneShuffle>());
  }
  internal_error("unknown kind of expression");
}

}  // namespace tulle::codegen
