// Replaces calls by a Shell sort.
#include "loop/rewrite.h"
#include "passes/expand_sorts.h"
#include "passes/kernel_text.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr const char* kShellSort = R"(
kernel sort(BUFFER: mut TYPE*; sort_begin: i64, sort_end: i64) {
  var sort_gap: i64 = (sort_end - sort_begin) / 2
  while (sort_gap > 0) {
    for sort_at in [sort_begin + sort_gap, sort_end) {
      let sort_item: TYPE = BUFFER[sort_at]
      var sort_to: i64 = sort_at
      while (sort_to >= sort_begin + sort_gap && BUFFER[sort_to - sort_gap] > sort_item) {
        BUFFER[sort_to] = BUFFER[sort_to - sort_gap]
        sort_to = sort_to - sort_gap
      }
      BUFFER[sort_to] = sort_item
    }
    sort_gap = sort_gap / 2
  }
})";

// Replaces the buffer of the text by the kernel's own buffer, which may be in any space.
class BufferRewriter final : public Rewriter {
 public:
  explicit BufferRewriter(Buffer buffer) : buffer_(std::move(buffer)) {}

  using Rewriter::rewrite;
  Buffer rewrite_buffer(const Buffer&) override { return buffer_; }

 private:
  Buffer buffer_;
};

class CallExpansion final : public Rewriter {
 public:
  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* call = stmt.as<Invoke>();
    if (!call || call->function != RuntimeFunction::Sort) return Rewriter::rewrite(stmt);
    const Kernel sort = kernel_of_text(
        kShellSort,
        {{"TYPE", std::string(name_of(call->buffer->element))}, {"BUFFER", call->buffer->name}});
    return Block::make({Let::make("sort_begin", call->args[0]),
                        Let::make("sort_end", call->args[1]),
                        BufferRewriter(call->buffer).rewrite(sort.body)});
  }
};

}  // namespace

Kernel expand_sort_calls(Kernel kernel) {
  kernel.body = CallExpansion().rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
