// Verifies the steps of a host program: names, types, and the bindings of launches.
#include <set>

#include "loop/print.h"
#include "loop/rewrite.h"
#include "loop/verify.h"
#include "loop/verify_expr.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

class HostVerifier {
 public:
  explicit HostVerifier(const HostProgram& program) : program_(program) {}

  void run() {
    std::set<std::string> names;
    for (const Kernel& kernel : program_.kernels) {
      if (!names.insert(kernel.name).second) internal_error("two kernels are called ", kernel.name);
    }
    scope_.declare_parameters(program_.buffers, program_.scalars);
    for (const HostStep& step : program_.steps) {
      try {
        std::visit([this](const auto& s) { check(s); }, step);
      } catch (const InternalError& error) {
        internal_error(error.what(), "\n  in: ", to_string(step));
      }
    }
    if (keeps_) internal_error("a keep without its kept");
    for (const Buffer& result : program_.results) scope_.find_buffer(result);
  }

 private:
  // Checks a value that the host computes from its scalars.
  void check_value(const Expr& expr) {
    verify_expr(expr, scope_);
    visit(expr, [](const Expr& inner) {
      const bool is_scalar =
          !inner.as<Load>() && !inner.as<LaneReduce>() && !inner.as<LaneShuffle>();
      if (!is_scalar || inner.type().is_vector()) {
        internal_error("the host computes with scalars only: ", to_string(inner));
      }
    });
  }

  void check_index(const Expr& expr) {
    check_value(expr);
    verify_expr(expr, kIndex, scope_);
  }

  void check_integers(const Buffer& buffer) {
    scope_.find_buffer(buffer);
    if (!is_integer(buffer->element)) internal_error("'", buffer->name, "' does not hold integers");
  }

  void check_writable(const Buffer& buffer) {
    if (!scope_.find_buffer(buffer).writable)
      internal_error("'", buffer->name, "' is not a mut parameter");
  }

  void check(const LetStep& step) {
    check_value(step.value);
    scope_.declare(step.name, {NameKind::Constant, step.value.type(), {}});
  }

  void check(const AllocateStep& step) {
    check_index(step.size);
    if (keeps_) made_.insert(step.buffer->name);
    if (step.buffer->space != Space::Global) internal_error("the host allocates global memory");
    scope_.declare(step.buffer->name, {NameKind::Buffer, {}, step.buffer});
  }

  void check(const LaunchStep& step) {
    const Kernel& kernel = program_.kernel(step.kernel);
    for (const BufferParam& param : kernel.buffers) {
      if (param.writable) check_writable(param.buffer);
      if (param.writable && keeps_ && !made_.contains(param.buffer->name))
        internal_error("steps between keep and kept change the parameter '", param.buffer->name,
                       "'");
      scope_.find_buffer(param.buffer);
    }
    for (const ScalarParam& param : kernel.scalars)
      verify_expr(Var::make(param.name, param.type), scope_);
  }

  void check(const ScanStep& step) {
    check_integers(step.buffer);
    check_writable(step.buffer);
    check_index(step.length);
  }

  void check(const ReadStep& step) {
    if (keeps_) internal_error("steps between keep and kept read a number back");
    scope_.find_buffer(step.buffer);
    check_index(step.index);
    scope_.declare(step.name, {NameKind::Constant, {step.buffer->element, 1}, {}});
  }

  void check(const SortStep& step) {
    check_writable(step.order);
    if (step.order->element != DType::Int64)
      internal_error("the order '", step.order->name, "' is not i64");
    if (step.keys.empty()) internal_error("a sort without keys");
    for (const Buffer& key : step.keys) check_integers(key);
    check_index(step.length);
  }

  // The caller owns parameters, so only allocated buffers may be freed.
  void check(const FreeStep& step) {
    for (const BufferParam& param : program_.buffers) {
      if (param.buffer->name == step.buffer->name) internal_error("a parameter is freed");
    }
    made_.erase(step.buffer->name);
    scope_.forget(step.buffer);
  }

  // A runtime that reuses cached arrays skips the steps in between.
  void check(const KeepStep& step) {
    if (keeps_) internal_error("a keep inside another");
    keeps_ = true;
    if (step.what.empty() || step.tensor.empty()) internal_error("a keep without a name");
  }

  void check(const KeptStep& step) {
    if (!keeps_) internal_error("a kept without its keep");
    for (const Buffer& array : step.arrays) {
      scope_.find_buffer(array);
      if (!made_.contains(array->name)) internal_error("'", array->name, "' is kept but not made");
      made_.erase(array->name);
    }
    for (const std::string& name : made_) internal_error("'", name, "' is made but not kept");
    keeps_ = false;
  }

  const HostProgram& program_;
  VerifierScope scope_;
  bool keeps_ = false;
  std::set<std::string> made_;  // since the last KeepStep, and not freed
};

// Adds the name of the program to errors.
template <typename Check>
void check_in(const HostProgram& program, const Check& check) {
  try {
    check();
  } catch (const InternalError& error) {
    internal_error("host program ", program.name, ": ", error.what());
  }
}

}  // namespace

void verify_steps(const HostProgram& program) {
  check_in(program, [&] { HostVerifier(program).run(); });
}

void verify(const HostProgram& program) {
  check_in(program, [&] {
    for (const Kernel& kernel : program.kernels) verify(kernel);
  });
  verify_steps(program);
}

}  // namespace tulle::loop
