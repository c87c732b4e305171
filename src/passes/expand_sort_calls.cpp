// Replaces calls by a Shell sort.
#include "loop/rewrite.h"
#include "passes/expand_sorts.h"
#include "passes/kernel_text.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr const char* kShellSort = R"(
kernel sort(BUFFER: mut TYPE*; sort.begin: i64, sort.end: i64) {
  var sort.gap: i64 = (sort.end - sort.begin) / 2
  while (sort.gap > 0) {
    for sort.at in [sort.begin + sort.gap, sort.end) {
      let sort.item: TYPE = BUFFER[sort.at]
      var sort.to: i64 = sort.at
      while (sort.to >= sort.begin + sort.gap && BUFFER[sort.to - sort.gap] > sort.item) {
        BUFFER[sort.to] = BUFFER[sort.to - sort.gap]
        sort.to = sort.to - sort.gap
      }
      BUFFER[sort.to] = sort.item
    }
    sort.gap = sort.gap / 2
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
    return Block::make({Let::make("sort.begin", call->args[0]),
                        Let::make("sort.end", call->args[1]),
                        BufferRewriter(call->buffer).rewrite(sort.body)});
  }
};

}  // namespace

Kernel expand_sort_calls(Kernel kernel) {
  kernel.body = CallExpansion().rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
