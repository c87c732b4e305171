// The loops around a chunk. They distribute the chunks of a kernel over the workers of a CPU or the
// threads of a GPU, and allocate private memory for each.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/options.h"

namespace tulle::lower {

// Private memory of a worker. On a GPU it is part of a global buffer that the host program
// allocates: each thread that runs at a time has a slice of `size` elements.
struct Slices {
  loop::Buffer buffer;
  loop::Expr size;
  bool zeroed = false;
};

// Units of work that chunks share.
struct Work {
  loop::Expr total;
  bool is_known = false;  // the host program has a variable of the same name
};

class KernelFrame {
 public:
  // Chunks on workers, chunks on threads, or no chunks, because the nest binds its own loops.
  enum class Kind : uint8_t { Workers, Threads, Bound };
  // The kind for kernels with chunks.
  static Kind kind_for(const Options& options) {
    return options.on_gpu() ? Kind::Threads : Kind::Workers;
  }

  // Makes the frame of the kernel with this name. `names` are the kernel's names. Chunks on threads
  // may have several members: threads that run the same chunk with separate private memory.
  KernelFrame(Kind kind, const ChunkLimits& limits, std::string kernel, loop::Expr chunks,
              loop::FreshNames& names, int64_t members = 1);

  Kind kind() const { return kind_; }
  bool on_gpu() const { return kind_ != Kind::Workers; }
  // The number of the current chunk.
  const loop::Expr& chunk() const { return chunk_; }
  // The number of members of a chunk, and the number of the current member. Null if there is one
  // member.
  int64_t members() const { return members_; }
  const loop::Expr& member() const { return member_; }

  // The first unit of a chunk. The sizes of chunks differ by at most one unit. The host does the
  // division if it has the operands, because divisions are slow on a GPU and slow to assemble.
  loop::Expr share(const Work& work, const loop::Expr& chunk);
  // The last chunk that begins at or before that unit of the work.
  loop::Expr last_chunk_from(const Work& work, const loop::Expr& unit);

  // Allocates memory for each worker in `out`. `zeroed` clears it before the worker's first chunk
  // (on a CPU: before each chunk). Returns the buffer and the position of its first element, which
  // is 0 on a CPU. Not for bound loops.
  struct Place {
    loop::Buffer buffer;
    loop::Expr base;
  };
  Place allocate(const std::string& name, DType element, const loop::Expr& size, bool zeroed,
                 Emitter& out);

  // The kernel's body: runs `before` once for each worker's memory, then `body` for each chunk.
  loop::Stmt wrap(std::vector<loop::Stmt> before, std::vector<loop::Stmt> body);

  // Appends the steps that launch the kernel: sizes, slices, the launch itself, and freeing.
  void launch(std::vector<loop::HostStep>& steps) const;

 private:
  loop::Expr slots() const;  // the number of threads that have chunks
  loop::Expr divided_by_members(const loop::Expr& threads) const;
  loop::Expr times_members(const loop::Expr& chunks) const;
  // Whether the host divides the work. `least` and `rest` are the results of the division: the
  // minimum size of a chunk, and the number of chunks with one unit more.
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
  loop::Expr divided_;  // the work that the host divides; null: none
};

}  // namespace tulle::lower
