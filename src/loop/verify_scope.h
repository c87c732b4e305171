// The names that are visible at the verifier's position.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "loop/host.h"

namespace tulle::loop {

enum class NameKind : uint8_t { Constant, Variable, Buffer };

struct VisibleName {
  NameKind kind;
  Type type;             // of constants and variables
  Buffer buffer;         // of buffers
  bool writable = true;  // buffers
};

class VerifierScope {
 public:
  VerifierScope() : levels_(1) {}

  void open() { levels_.emplace_back(); }
  void close() { levels_.pop_back(); }

  // Each of these raises an InternalError that describes the fault.
  void declare(const std::string& name, VisibleName declaration);
  void declare_parameters(const std::vector<BufferParam>& buffers,
                          const std::vector<ScalarParam>& scalars);
  void forget(const Buffer& buffer);  // of the outermost level
  const VisibleName& find(const std::string& name) const;
  const VisibleName& find_buffer(const Buffer& buffer) const;

 private:
  std::vector<std::unordered_map<std::string, VisibleName>> levels_;
};

}  // namespace tulle::loop
