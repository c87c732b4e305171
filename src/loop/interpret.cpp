// Interprets the steps of host programs, in order.
#include "loop/interpret.h"

#include <algorithm>
#include <numeric>

#include "loop/interpret/exprs.h"
#include "loop/interpret/kernels.h"
#include "loop/verify.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

class HostInterpreter {
 public:
  HostInterpreter(const HostProgram& program, const InterpretOptions& options)
      : program_(program), options_(options) {}

  void bind(Arrays buffers, const Scalars& scalars);
  void run() {
    for (const HostStep& step : program_.steps) {
      std::visit([this](const auto& s) { this->run(s); }, step);
    }
  }
  Arrays take_results();

 private:
  void run(const LetStep& step) { scalars_[step.name] = evaluate(step.value); }
  void run(const AllocateStep& step);
  void run(const LaunchStep& step) {
    run_kernel(program_.kernel(step.kernel), buffers_, scalars_, ++launches_, options_.most_steps);
  }
  void run(const ScanStep& step);
  void run(const ReadStep& step) {
    const Word value = read(step.buffer, evaluate(step.index).i);
    if (value.i > step.most) fail_read(step, value.i);
    scalars_[step.name] = value;
  }
  void run(const SortStep& step);
  void run(const FreeStep& step) { buffers_.erase(step.buffer->name); }
  void run(const KeepStep&) {}  // computes cached arrays in every run
  void run(const KeptStep&) {}

  Word evaluate(const Expr& expr);
  // Steps run sequentially, so no races are tracked.
  InterpretedBuffer& memory(const Buffer& buffer) {
    InterpretedBuffer& found = buffers_.at(buffer->name);
    found.track(0);
    return found;
  }
  Word read(const Buffer& buffer, int64_t index) { return memory(buffer).read(index, one_, 0); }

  const HostProgram& program_;
  const InterpretOptions& options_;
  std::map<std::string, InterpretedBuffer> buffers_;
  std::map<std::string, Word> scalars_;
  Threads one_{1, 0};
  uint32_t launches_ = 0;
};

void HostInterpreter::bind(Arrays buffers, const Scalars& scalars) {
  for (const BufferParam& param : program_.buffers) {
    const std::string& name = param.buffer->name;
    const auto found = buffers.find(name);
    if (found == buffers.end())
      user_error("no array was given for the buffer ", name, " of ", program_.name);
    if (found->second.element != param.buffer->element) {
      user_error("the array for ", name, " holds ", name_of(found->second.element), ", expected ",
                 name_of(param.buffer->element));
    }
    buffers_.emplace(name, InterpretedBuffer(name, std::move(found->second)));
  }
  for (const ScalarParam& param : program_.scalars) {
    const auto found = scalars.find(param.name);
    if (found == scalars.end())
      user_error("no value was given for the scalar ", param.name, " of ", program_.name);
    const bool given_float = std::holds_alternative<double>(found->second);
    if (given_float && !param.type.is_float())
      user_error("the scalar ", param.name, " is ", to_string(param.type));
    const Word given = given_float ? Word{.f = std::get<double>(found->second)}
                                   : Word{.i = std::get<int64_t>(found->second)};
    Word value;
    convert(given_float ? DType::Float64 : DType::Int64, param.type.scalar, &given, &value, 1);
    scalars_[param.name] = value;
  }
}

Arrays HostInterpreter::take_results() {
  Arrays results;
  const auto take = [&](const std::string& name) {
    if (!results.contains(name)) results.emplace(name, buffers_.at(name).take());
  };
  for (const Buffer& result : program_.results) take(result->name);
  for (const BufferParam& param : program_.buffers) {
    if (param.writable && buffers_.contains(param.buffer->name)) take(param.buffer->name);
  }
  return results;
}

Word HostInterpreter::evaluate(const Expr& expr) {
  Registers registers;
  Environment environment;
  for (const auto& [name, value] : scalars_)
    *(environment.variables[name] = registers.make(1)) = value;
  const Operand operand = ExprCompiler(one_, registers, environment).compile(expr);
  operand();
  return operand.words[0];
}

void HostInterpreter::run(const AllocateStep& step) {
  InterpretedBuffer memory(step.buffer->name, step.buffer->element);
  memory.allocate(evaluate(step.size).i, step.zeroed);
  buffers_.insert_or_assign(step.buffer->name, std::move(memory));
}

void HostInterpreter::run(const ScanStep& step) {
  InterpretedBuffer& buffer = memory(step.buffer);
  const int64_t length = evaluate(step.length).i;
  Word total{.i = 0};
  for (int64_t k = 0; k < length; ++k) {
    const Word count = buffer.read(k, one_, 0);
    buffer.write(k, total, one_, 0);
    total.i += count.i;
    if (buffer.element() == DType::Int32 && total.i != static_cast<int32_t>(total.i)) {
      user_error("the total of ", buffer.name(),
                 " does not fit i32; use i64 for positions and coordinates");
    }
  }
  buffer.write(length, total, one_, 0);
}

void HostInterpreter::run(const SortStep& step) {
  const int64_t length = evaluate(step.length).i;
  std::vector<int64_t> order(std::max<int64_t>(length, 0));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::vector<std::vector<int64_t>> keys;
  for (const Buffer& key : step.keys) {
    auto& values = keys.emplace_back();
    for (int64_t k = 0; k < length; ++k) values.push_back(read(key, k).i);
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    for (const auto& key : keys) {
      if (key[a] != key[b]) return key[a] < key[b];
    }
    return a < b;
  });
  for (int64_t k = 0; k < length; ++k) memory(step.order).write(k, Word{.i = order[k]}, one_, 0);
}

}  // namespace

Arrays interpret(const HostProgram& program, Arrays buffers, const Scalars& scalars,
                 const InterpretOptions& options) {
  verify(program);
  HostInterpreter interpreter(program, options);
  interpreter.bind(std::move(buffers), scalars);
  interpreter.run();
  return interpreter.take_results();
}

}  // namespace tulle::loop
