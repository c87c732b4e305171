// Whether the entry under construction exists.
#pragma once

#include "lower/emitter.h"
#include "lower/scope.h"

namespace tulle::lower {

// An entry under construction, of a result or of the blocks in a workspace. It certainly exists, or
// a flag tells whether it does.
struct Touch {
  loop::Expr flag;
  bool always = false;
  bool sometimes = false;
};

// Keeps the innermost entry under construction.
class Touches {
 public:
  // Whether an entry is under construction.
  bool is_asked() const { return innermost_ != nullptr; }
  // Records an assignment to the entry, under the condition if there is one.
  void touch(const Storing& storing, Emitter& out) const;
  void touch_if(const loop::Expr& condition, Storing storing, Emitter& out) const;

  // Makes an entry the innermost one during its lifetime. Null: assignments make no entry.
  class Within {
   public:
    Within(Touches& touches, Touch* point) : touches_(touches), outer_(touches.innermost_) {
      touches_.innermost_ = point;
    }
    ~Within() { touches_.innermost_ = outer_; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    Touches& touches_;
    Touch* outer_;
  };

 private:
  Touch* innermost_ = nullptr;
};

}  // namespace tulle::lower
