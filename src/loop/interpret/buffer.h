// Buffers of the interpreter. Every access is checked for bounds, initialisation and races.
#pragma once

#include <string>
#include <vector>

#include "loop/interpret.h"
#include "loop/interpret/threads.h"
#include "loop/interpret/word.h"

namespace tulle::loop {

class InterpretedBuffer {
 public:
  InterpretedBuffer(std::string name, DType element);
  InterpretedBuffer(std::string name, Array contents);  // all initialised

  // Replaces the contents by zeros, or by poison that may not be read before it is written.
  void allocate(int64_t size, bool zeroed);
  // Checks further accesses against other accesses of the same launch. Launch 0 checks nothing.
  void track(uint32_t launch);

  // A faulty access raises an InternalError that names buffer, index, size and fault.
  Word read(int64_t index, const Threads& threads, int thread);
  void write(int64_t index, Word value, const Threads& threads, int thread);
  Word update(ReduceOp op, int64_t index, Word value, const Threads& threads,
              int thread);  // returns the old value

  const std::string& name() const { return name_; }
  DType element() const { return element_; }
  int64_t size() const { return size_; }
  // Moves the contents out. Raises an InternalError if an element was never written.
  Array take();

 private:
  template <typename Action>
  void checked(int64_t index, Action action);
  std::byte* at(int64_t index) { return bytes_.data() + index * size_of(element_); }

  std::string name_;
  DType element_;
  int64_t size_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<uint8_t> written_;  // empty: all of it
  uint32_t launch_ = 0;
  std::vector<History> histories_;
};

}  // namespace tulle::loop
