// Producers and consumers of workspaces.
#pragma once

#include "lower/result/tuple_pieces.h"
#include "lower/workspaces/staging.h"
#include "lower/workspaces/workspaces.h"

namespace tulle::lower {

// Keeps references to its arguments.
class Wheres {
 public:
  Wheres(KernelContext& kernel, Touches& touches, Workspaces& workspaces, TuplePieces& pieces,
         StatementLowering& statements)
      : kernel_(kernel),
        touches_(touches),
        workspaces_(workspaces),
        pieces_(pieces),
        statements_(statements) {}

  // Lowers a where that stages no operand.
  void lower(const nest::Where& where, const KernelScope& scope, Emitter& out);

 private:
  // Lowers only the consumer, if the producer adds nothing.
  void consume_nothing(const nest::Where& where, const KernelScope& scope, Emitter& out);
  void produce(const nest::Where& where, const KernelScope& scope, Emitter& out);
  void consume(const nest::Where& where, const KernelScope& scope, Emitter& out);
  // Stores the sums of the producer. Uses atomics in rows that several chunks share.
  void store(const nest::Stmt& consumer, const KernelScope& scope, Emitter& out);
  // Whether the consumer stores a sum in a row that several chunks may share.
  bool adds_to_shared_row(const nest::Stmt& consumer, const KernelScope& scope) const;
  // Whether the statement updates some workspaces of a tuple, but not all.
  bool splits_tuple(const nest::Stmt& stmt) const;

  KernelContext& kernel_;
  Touches& touches_;
  Workspaces& workspaces_;
  TuplePieces& pieces_;
  StatementLowering& statements_;
};

}  // namespace tulle::lower
