// The loops around a chunk: how the chunks of a kernel are spread over the workers of a CPU or the
// threads of a GPU, and the memory that each of these has to itself.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"
#include "lower/emitter.h"

namespace tulle::lower {

// What is private to a worker of a CPU lies on a GPU in a global buffer that the host program
// allocates, a slice of `size` elements for each of the threads that run at a time.
struct Slices {
  loop::Buffer buffer;
  loop::Expr size;
  bool zeroed = false;
};

// So many units of work, which chunks share.
struct Work {
  loop::Expr total;
  bool is_known = false;  // to the host program too, under the same names
};

class Frame {
 public:
  // Chunks on workers, chunks on threads, or no chunks: loops of the kernel's own are bound.
  enum class Kind : uint8_t { Workers, Threads, Bound };

  // Of the kernel with this name. `names` are those of the kernel. Chunks on threads may have
  // several members: threads that run the same chunk, each with memory of its own.
  Frame(Kind kind, std::string kernel, loop::Expr chunks, Names& names, int64_t members = 1);

  Kind kind() const { return kind_; }
  bool on_gpu() const { return kind_ != Kind::Workers; }
  // The number of the chunk at hand.
  const loop::Expr& chunk() const { return chunk_; }
  // How many members a chunk has, and the number of the one at hand, null where there is one.
  int64_t members() const { return members_; }
  const loop::Expr& member() const { return member_; }

  // Where a chunk begins in the work: all have equally much of it, within one unit. Threads of a
  // GPU leave the division of what the host knows to the host; it is slow there, and slow to
  // assemble.
  loop::Expr share(const Work& work, const loop::Expr& chunk);
  // The last chunk that begins at that unit of the work or before it.
  loop::Expr last_chunk_from(const Work& work, const loop::Expr& unit);

  // Memory for a worker, zeroed or not before its first chunk (on a CPU: before each), allocated
  // in `out`. What comes back is where its first element is: 0 on a CPU. Not where loops are bound.
  struct Place {
    loop::Buffer buffer;
    loop::Expr base;
  };
  Place allocate(const std::string& name, DType element, const loop::Expr& size, bool zeroed,
                 Emitter& out);

  // The kernel's body: `body` for each chunk, after `before`, which runs once for each worker's
  // memory.
  loop::Stmt wrap(std::vector<loop::Stmt> before, std::vector<loop::Stmt> body);

  // The steps that launch the kernel: sizes, slices, the launch itself, and freeing.
  void launch(std::vector<loop::Step>& steps) const;

 private:
  loop::Expr slots() const;  // how many threads have chunks
  loop::Expr divided_by_members(const loop::Expr& threads) const;
  loop::Expr times_members(const loop::Expr& chunks) const;
  // Whether the host divides the work, and the work of a chunk as it divides it: the least, and how
  // many chunks have one unit more.
  bool divides_on_host(const Work& work) const;
  loop::Expr least() const;
  loop::Expr rest() const;

  Kind kind_;
  std::string kernel_;
  int64_t members_;
  loop::Expr chunks_, chunk_, member_, slot_;
  Names& names_;
  std::vector<Slices> slices_;
  loop::Expr divided_;  // what the host divides; null where that is nothing
};

}  // namespace tulle::lower
