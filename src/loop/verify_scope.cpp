// Declaring and finding names without shadowing.
#include "loop/verify_scope.h"

#include <cctype>

#include "support/check.h"

namespace tulle::loop {

namespace {

// A letter or underscore, then more of them, digits, and single dots between these.
bool is_name(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  char before = '.';
  for (const char c : text) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!is_part && (c != '.' || before == '.')) return false;
    before = c;
  }
  return before != '.';
}

}  // namespace

void VerifierScope::declare(const std::string& name, VisibleName declaration) {
  if (!is_name(name)) internal_error("'", name, "' cannot be a name");
  for (const auto& level : levels_) {
    if (level.contains(name)) internal_error("'", name, "' is declared while the name is taken");
  }
  levels_.back().emplace(name, std::move(declaration));
}

void VerifierScope::declare_parameters(const std::vector<BufferParam>& buffers,
                                       const std::vector<ScalarParam>& scalars) {
  for (const BufferParam& param : buffers) {
    if (param.buffer->space != Space::Global)
      internal_error("the parameter ", param.buffer->name, " is not global");
    declare(param.buffer->name, {NameKind::Buffer, {}, param.buffer, param.writable});
  }
  for (const ScalarParam& param : scalars) {
    if (param.type.is_vector()) internal_error("the parameter ", param.name, " is a vector");
    declare(param.name, {NameKind::Constant, param.type, {}});
  }
}

void VerifierScope::forget(const Buffer& buffer) {
  find_buffer(buffer);
  levels_.front().erase(buffer->name);
}

const VisibleName& VerifierScope::find(const std::string& name) const {
  for (const auto& level : levels_) {
    const auto found = level.find(name);
    if (found != level.end()) return found->second;
  }
  internal_error("'", name, "' is not declared");
}

const VisibleName& VerifierScope::find_buffer(const Buffer& buffer) const {
  const VisibleName& declaration = find(buffer->name);
  if (declaration.kind != NameKind::Buffer) internal_error("'", buffer->name, "' is not a buffer");
  if (declaration.buffer->element != buffer->element ||
      declaration.buffer->space != buffer->space) {
    internal_error("'", buffer->name, "' is ", text_of(declaration.buffer->space), " ",
                   name_of(declaration.buffer->element), ", used as ", text_of(buffer->space), " ",
                   name_of(buffer->element));
  }
  return declaration;
}

}  // namespace tulle::loop
