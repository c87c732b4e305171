// Whether the entry exists that is under construction.
#pragma once

#include "lower/emitter.h"
#include "lower/scope.h"

namespace tulle::lower {

// The entry under construction at a point where one may be appended, to a result or to the blocks
// of a workspace: whether it certainly exists, or a flag says so.
struct Touch {
  loop::Expr flag;
  bool always = false;
  bool sometimes = false;
};

// Knows the innermost of these points.
class Touches {
 public:
  // Whether there is such a point.
  bool is_asked() const { return innermost_ != nullptr; }
  // Something is assigned to the entry, always or if the condition holds.
  void touch(const Storing& storing, Emitter& out) const;
  void touch_if(const loop::Expr& condition, Storing storing, Emitter& out) const;

  // Makes a point the innermost one during its lifetime; null if assignments make no entry.
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
