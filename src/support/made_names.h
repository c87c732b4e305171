// The names that the compiler makes.
#pragma once

#include <string_view>

namespace tulle {

// The compiler derives names from those of tensors, indices and kernels by a dot and a suffix:
// A.pos1, C.acc, i.extent. Index notation has no dots in names (expr/notation_scanner.cpp), so that
// none of them equals a user's name. Schedules may name such loops and workspaces. In a name of
// several parts, a fixed word separates users' names (j.minus.i), so different parts give different
// names.
//
// Names are made where the named thing is made: arrays in lower/storage.h, workspaces and loops in
// plan/, intermediates in plan/plan_draft.h. Two kinds of names have no dots. Local variables of
// kernels are fresh names (loop/fresh_names.h). The tensors of derivatives (grad_A) are fresh names
// too (grad/names.h), because a derivative is a program that users can write.
inline bool is_made_name(std::string_view name) { return name.find('.') != std::string_view::npos; }

// The user's name from which the name was derived; the name itself if it was not.
inline std::string_view name_before_dots(std::string_view name) {
  return name.substr(0, name.find('.'));
}

}  // namespace tulle
