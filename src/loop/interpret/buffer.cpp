// Checked reads and writes.
#include "loop/interpret/buffer.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::loop {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 32;

}  // namespace

InterpretedBuffer::InterpretedBuffer(std::string name, DType element)
    : name_(std::move(name)), element_(element) {}

InterpretedBuffer::InterpretedBuffer(std::string name, Array contents)
    : InterpretedBuffer(std::move(name), contents.element) {
  size_ = contents.size();
  bytes_ = std::move(contents.bytes);
}

void InterpretedBuffer::allocate(int64_t size, bool zeroed) {
  if (size < 0 || size > kMostElements)
    internal_error("allocation of ", name_, " with ", size, " elements");
  size_ = size;
  bytes_.assign(size * size_of(element_), zeroed ? std::byte{0} : std::byte{0xcb});
  written_.assign(zeroed ? 0 : size, 0);
  if (launch_ != 0) histories_.assign(size, {});
}

void InterpretedBuffer::track(uint32_t launch) {
  launch_ = launch;
  if (launch != 0) histories_.resize(size_);
}

template <typename Action>
void InterpretedBuffer::checked(int64_t index, Action action) {
  if (index < 0 || index >= size_)
    internal_error(name_, "[", index, "] is out of bounds, the size is ", size_);
  if (launch_ == 0) return;
  try {
    action(histories_[index]);
  } catch (const InternalError& error) {
    internal_error(name_, "[", index, "] of ", size_, ": ", error.what());
  }
}

Word InterpretedBuffer::read(int64_t index, const Threads& threads, int thread) {
  checked(index, [&](History& history) { history.read(threads.access(thread), launch_); });
  if (!written_.empty() && !written_[index]) {
    internal_error(name_, "[", index, "] of ", size_, " is read before it is written");
  }
  return read_word(element_, at(index));
}

void InterpretedBuffer::write(int64_t index, Word value, const Threads& threads, int thread) {
  checked(index, [&](History& history) { history.write(threads.access(thread), launch_); });
  if (!written_.empty()) written_[index] = 1;
  write_word(element_, value, at(index));
}

Word InterpretedBuffer::update(ReduceOp op, int64_t index, Word value, const Threads& threads,
                               int thread) {
  checked(index, [&](History& history) { history.atomic(threads.access(thread), launch_); });
  if (!written_.empty() && !written_[index]) {
    internal_error(name_, "[", index, "] of ", size_, " is updated before it is written");
  }
  const Word old = read_word(element_, at(index));
  write_word(element_, combine(op, element_, old, value), at(index));
  return old;
}

Array InterpretedBuffer::take() {
  const auto missing = std::find(written_.begin(), written_.end(), uint8_t{0});
  if (missing != written_.end()) {
    internal_error(name_, "[", missing - written_.begin(), "] of ", size_,
                   " is returned but never written");
  }
  return {element_, std::move(bytes_)};
}

}  // namespace tulle::loop
