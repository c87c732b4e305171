// Expressions: constants, variables, short-circuit logic and vectors.
#include "codegen/expr_emitter.h"

#include <algorithm>

#include "codegen/library.h"
#include "codegen/memory_emitter.h"
#include "support/check.h"

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

}  // namespace

llvm::Value* ExprEmitter::logical(BinaryOp op, const Expr& a, const Expr& b) {
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
  llvm::BasicBlock* more = function_.new_block(is_and ? "and" : "or");
  llvm::BasicBlock* join = function_.new_block("join");
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

llvm::Value* ExprEmitter::select(const loop::Select& expr) {
  llvm::Value* condition = value(expr.condition);
  const bool lazy = !expr.type.is_vector() && (is_guarded(expr.yes) || is_guarded(expr.no));
  if (!lazy) return builder_.CreateSelect(condition, value(expr.yes), value(expr.no));
  llvm::Value *yes = nullptr, *no = nullptr;
  llvm::BasicBlock *from_yes = nullptr, *from_no = nullptr;
  function_.branch(
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

llvm::Value* ExprEmitter::value(const Expr& expr) {
  const loop::Type type = expr.type();
  switch (expr->kind) {
    case ExprKind::IntConst: {
      llvm::Type* integer = function_.type_of(type);
      const auto bits = integer->getScalarSizeInBits();
      const auto number = static_cast<uint64_t>(expr.as<loop::IntConst>()->value);
      return llvm::ConstantInt::get(integer, llvm::APInt(bits, number, true, true));
    }
    case ExprKind::FloatConst:
      return arithmetic_.float_constant(type, expr.as<loop::FloatConst>()->value);
    case ExprKind::Var: {
      const std::string& name = expr.as<loop::Var>()->name;
      if (llvm::AllocaInst* slot = names_.variable(name)) {
        return builder_.CreateLoad(slot->getAllocatedType(), slot, name);
      }
      return names_.value(name);
    }
    case ExprKind::Binary: {
      const auto* node = expr.as<loop::Binary>();
      if (loop::is_logical(node->op)) return logical(node->op, node->a, node->b);
      llvm::Value* a = value(node->a);
      llvm::Value* b = value(node->b);
      const loop::Type operand = node->a.type();
      return loop::is_comparison(node->op) ? arithmetic_.compare(node->op, a, b, operand)
                                           : arithmetic_.binary(node->op, a, b, operand);
    }
    case ExprKind::Select:
      return select(*expr.as<loop::Select>());
    case ExprKind::Cast: {
      const Expr& from = expr.as<loop::Cast>()->value;
      return arithmetic_.cast(value(from), from.type(), type);
    }
    case ExprKind::Call: {
      const auto* node = expr.as<loop::Call>();
      llvm::SmallVector<llvm::Value*, 3> args;
      for (const Expr& arg : node->args) args.push_back(value(arg));
      return arithmetic_.call(*node, args);
    }
    case ExprKind::Load:
      return memory_.load(*expr.as<loop::Load>());
    case ExprKind::Ramp: {
      const auto* node = expr.as<loop::Ramp>();
      const auto lanes = static_cast<unsigned>(type.lanes);
      llvm::Value* base = builder_.CreateVectorSplat(lanes, value(node->base));
      llvm::Value* stride = builder_.CreateVectorSplat(lanes, value(node->stride));
      llvm::Value* steps = builder_.CreateStepVector(function_.type_of(type));
      return builder_.CreateAdd(base, builder_.CreateMul(steps, stride));
    }
    case ExprKind::Broadcast:
      return builder_.CreateVectorSplat(static_cast<unsigned>(type.lanes),
                                        value(expr.as<loop::Broadcast>()->value));
    case ExprKind::VectorReduce: {
      const auto* node = expr.as<loop::VectorReduce>();
      return arithmetic_.vector_reduce(node->op, value(node->value), node->value.type());
    }
    case ExprKind::LaneReduce:
      return target_.lane_reduce(*expr.as<loop::LaneReduce>());
    case ExprKind::LaneShuffle:
      return target_.lane_shuffle(*expr.as<loop::LaneShuffle>());
  }
  internal_error("unknown kind of expression");
}

}  // namespace tulle::codegen
