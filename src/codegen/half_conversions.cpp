// Widens and narrows half-precision numbers, which are 16 bits in registers and in memory.
#include "codegen/half_conversions.h"

#include "support/check.h"
#include "support/half.h"

namespace tulle::codegen {

namespace {

// A type with the same number of lanes and another element type.
llvm::Type* like(llvm::Type* model, llvm::Type* scalar) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(model);
  return vector ? llvm::FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
}

}  // namespace

llvm::Value* HalfConversions::widen(llvm::Value* bits, DType half) {
  llvm::Type* floats = like(bits->getType(), builder_.getFloatTy());
  llvm::Type* words = like(bits->getType(), builder_.getInt32Ty());
  if (half == DType::BFloat16) {
    llvm::Value* high = builder_.CreateShl(builder_.CreateZExt(bits, words), 16);
    return builder_.CreateBitCast(high, floats);
  }
  if (target_.converts(half)) {
    llvm::Type* halves = like(bits->getType(), builder_.getHalfTy());
    return builder_.CreateFPExt(builder_.CreateBitCast(bits, halves), floats);
  }
  const auto word = [&](uint32_t value) { return llvm::ConstantInt::get(words, value); };
  llvm::Value* all = builder_.CreateZExt(bits, words);
  llvm::Value* sign = builder_.CreateShl(builder_.CreateAnd(all, word(0x8000)), 16);
  llvm::Value* magnitude = builder_.CreateAnd(all, word(0x7fff));
  llvm::Value* moved = builder_.CreateShl(magnitude, 13);
  llvm::Value* normal = builder_.CreateAdd(moved, word((127 - 15) << 23));
  llvm::Value* special = builder_.CreateOr(moved, word(0x7f800000));  // infinity or NaN
  llvm::Value* tiny = builder_.CreateFMul(builder_.CreateUIToFP(magnitude, floats),
                                          llvm::ConstantFP::get(floats, 0x1p-24));
  llvm::Value* value = builder_.CreateSelect(
      builder_.CreateICmpULT(magnitude, word(0x0400)), builder_.CreateBitCast(tiny, words),
      builder_.CreateSelect(builder_.CreateICmpULT(magnitude, word(0x7c00)), normal, special));
  return builder_.CreateBitCast(builder_.CreateOr(value, sign), floats);
}

llvm::Value* HalfConversions::narrow(llvm::Value* value, DType half) {
  llvm::Type* words = like(value->getType(), builder_.getInt32Ty());
  llvm::Type* results = like(value->getType(), builder_.getInt16Ty());
  if (target_.converts(half)) {
    llvm::Type* halves = like(
        value->getType(), half == DType::Float16 ? builder_.getHalfTy() : builder_.getBFloatTy());
    return builder_.CreateBitCast(builder_.CreateFPTrunc(value, halves), results);
  }
  const auto word = [&](uint32_t number) { return llvm::ConstantInt::get(words, number); };
  llvm::Value* all = builder_.CreateBitCast(value, words);
  llvm::Value* sign = builder_.CreateAnd(builder_.CreateLShr(all, word(16)), word(0x8000));
  llvm::Value* magnitude = builder_.CreateAnd(all, word(0x7fffffff));
  llvm::Value* is_nan = builder_.CreateICmpUGT(magnitude, word(0x7f800000));
  // Adding half an ulp of the result, less one bit if that ulp is even, rounds to nearest even.
  const auto rounded = [&](uint32_t dropped, llvm::Value* from) {
    llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(from, dropped), word(1));
    llvm::Value* up = builder_.CreateAdd(odd, word((1U << (dropped - 1)) - 1));
    return builder_.CreateLShr(builder_.CreateAdd(from, up), dropped);
  };
  llvm::Value* narrow = nullptr;
  if (half == DType::BFloat16) {
    narrow = builder_.CreateSelect(is_nan, word(0x7fc0), rounded(16, magnitude));
  } else {
    llvm::Value* normal = rounded(13, builder_.CreateSub(magnitude, word((127 - 15) << 23)));
    normal = builder_.CreateSelect(builder_.CreateICmpULT(magnitude, word(0x47800000)), normal,
                                   word(0x7c00));
    // Near 0.5, the ulp of a float equals the smallest half.
    llvm::Value* shifted = builder_.CreateFAdd(builder_.CreateBitCast(magnitude, value->getType()),
                                               llvm::ConstantFP::get(value->getType(), 0.5));
    llvm::Value* tiny =
        builder_.CreateSub(builder_.CreateBitCast(shifted, words), word(0x3f000000));
    narrow =
        builder_.CreateSelect(builder_.CreateICmpULT(magnitude, word(0x38800000)), tiny, normal);
    narrow = builder_.CreateSelect(is_nan, word(0x7e00), narrow);
  }
  return builder_.CreateTrunc(builder_.CreateOr(narrow, sign), results);
}

}  // namespace tulle::codegen
