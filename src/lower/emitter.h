// Collects the statements of a block during lowering and makes names that are unique in the kernel.
#pragma once

#include <string>
#include <vector>

#include "loop/fresh_names.h"
#include "loop/stmt.h"

namespace tulle::lower {

// Adds statements to a block.
class Emitter {
 public:
  explicit Emitter(loop::FreshNames& names) : names_(&names) {}

  void add(loop::Stmt stmt) { stmts_.push_back(std::move(stmt)); }
  // Names the value. Returns variables and constants unchanged.
  loop::Expr let(const std::string& name, const loop::Expr& value);
  // Names the current value, even of a mutable variable.
  loop::Expr snapshot(const std::string& name, const loop::Expr& value);
  // Declares a mutable variable.
  loop::Expr declare(const std::string& name, const loop::Expr& init);
  void assign(const loop::Expr& var, const loop::Expr& value);
  void store(const loop::Buffer& buffer, const loop::Expr& index, const loop::Expr& value) {
    add(loop::Store::make(buffer, index, value));
  }

  Emitter nested() const { return Emitter(*names_); }
  loop::FreshNames& names() { return *names_; }
  bool empty() const { return stmts_.empty(); }
  // Returns the collected statements as a block and clears the emitter.
  loop::Stmt take();
  // Moves all statements of the other emitter to this one.
  void append(Emitter& other);
  std::vector<loop::Stmt> take_statements() { return std::move(stmts_); }

 private:
  loop::FreshNames* names_;
  std::vector<loop::Stmt> stmts_;
};

}  // namespace tulle::lower
