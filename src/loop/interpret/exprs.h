// Compiles expressions to closures that compute them for all threads.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loop/interpret/buffer.h"

namespace tulle::loop {

// A compiled expression. After `compute`, `words` holds its value, ordered by thread and then by
// lane. `compute` is empty for values that need no computation (variables, constants).
struct Operand {
  Word* words = nullptr;
  Type type;
  std::function<void()> compute;

  void operator()() const {
    if (compute) compute();
  }
};

// The buffer that a name refers to: one for all threads, or an array with one per thread.
struct BufferPlace {
  InterpretedBuffer* memory = nullptr;
  bool each = false;
  InterpretedBuffer& of(int thread) const { return memory[each ? thread : 0]; }
};

// The meaning of names. A redeclaration in a later scope replaces the earlier one; scopes never
// shadow.
struct Environment {
  std::map<std::string, Word*> variables;
  std::map<std::string, BufferPlace> places;
};

// The words of all variables and intermediate values. Their addresses are stable.
class Registers {
 public:
  Word* make(size_t count) { return words_.emplace_back(count, Word{.i = 0}).data(); }

 private:
  std::deque<std::vector<Word>> words_;
};

class ExprCompiler {
 public:
  ExprCompiler(Threads& threads, Registers& registers, const Environment& environment)
      : threads_(threads), registers_(registers), environment_(environment) {}

  Operand compile(const Expr& expr);
  Word* make_words(Type type) {
    return registers_.make(static_cast<size_t>(threads_.count()) * type.lanes);
  }

 private:
  Operand constant(Word value, Type type);
  Operand compile_binary(const Binary& node);
  Operand compile_logical(const Binary& node);
  Operand compile_select(const Select& node);
  Operand compile_cast(const Cast& node);
  Operand compile_call(const Call& node);
  Operand compile_load(const Load& node);
  Operand compile_ramp(const Ramp& node);
  Operand compile_broadcast(const Broadcast& node);
  Operand compile_vector_reduce(const VectorReduce& node);
  Operand compile_lane_reduce(const LaneReduce& node);
  Operand compile_lane_shuffle(const LaneShuffle& node);
  // Computes the scalar for the active threads whose condition equals `wanted`.
  void compute_where(const Operand& operand, const Word* condition, bool wanted,
                     std::vector<uint8_t>& before);
  size_t words_of(Type type) const { return static_cast<size_t>(threads_.count()) * type.lanes; }

  Threads& threads_;
  Registers& registers_;
  const Environment& environment_;
};

}  // namespace tulle::loop
