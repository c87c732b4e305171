// The loops around a chunk: spreads the chunks of a kernel over the workers of a CPU or the threads
// of a GPU, and allocates the private memory of each.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/options.h"

namespace tulle::lower {

// Memory that is private to a worker of a CPU. On a GPU it lies in a global buffer that the host
// program allocates: each of the threads that run at a time has a slice of `size` elements.
struct Slices {
  loop::Buffer buffer;
  loop::Expr size;
  bool zeroed = false;
};

// Units of work, which chunks share.
struct Work {
  loop::Expr total;
  bool is_known = false;  // the host program knows it under the same names
};

class KernelFrame {
 public:
  // Chunks on workers, chunks on threads, or no chunks: loops of the kernel's own are bound.
  enum class Kind : uint8_t { Workers, Threads, Bound };
  // Of chunks.
  static Kind kind_for(const Options& options) {
    return options.on_gpu() ? Kind::Threads : Kind::Workers;
  }

  // Of the kernel with this name. `names` are those of the kernel. Chunks on threads may have
  // several members: threads that run the same chunk, each with memory of its own.
  KernelFrame(Kind kind, const ChunkLimits& limits, std::string kernel, loop::Expr chunks,
              loop::FreshNames& names, int64_t members = 1);

  Kind kind() const { return kind_; }
  bool on_gpu() const { return kind_ != Kind::Workers; }
  // The number of the chunk at hand.
  const loop::Expr& chunk() const { return chunk_; }
  // The number of members of a chunk, and the number of the current member; null if there is one
  // member.
  int64_t members() const { return members_; }
  const loop::Expr& member() const { return member_; }

  // Where a chunk begins in the work. All chunks have the same amount, within one unit. The host
  // divides what it knows: divisions are slow on a GPU, and slow to assemble.
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
  void launch(std::vector<loop::HostStep>& steps) const;

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
  ChunkLimits limits_;
  std::string kernel_;
  int64_t members_;
  loop::Expr chunks_, chunk_, member_, slot_;
  loop::FreshNames& names_;
  std::vector<Slices> slices_;
  loop::Expr divided_;  // the work that the host divides; null if none
};

}  // namespace tulle::lower
