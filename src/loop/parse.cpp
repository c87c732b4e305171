// The parser of kernels and host programs.
#include "loop/parse.h"

#include "loop/literal.h"
#include "loop/parse_stmt.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

const ScannerOptions kOptions{
    .symbols = {"->", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>"},
    .dotted_names = true,
    .escaped_names = true,
};

class HostParser {
 public:
  explicit HostParser(std::string_view text)
      : scanner_(text, "loop IR", kOptions), exprs_(scanner_, names_) {}

  Kernel parse_kernel() {
    scanner_.expect("kernel");
    names_ = {};
    Kernel kernel;
    kernel.name = exprs_.parse_name("the kernel's name");
    parse_parameters(kernel.buffers, kernel.scalars);
    kernel.body = LoopStmtParser(scanner_, names_).parse_block();
    return kernel;
  }

  HostProgram parse_program() {
    scanner_.expect("host");
    HostProgram program;
    program.name = exprs_.parse_name("the program's name");
    parse_parameters(program.buffers, program.scalars);
    scanner_.expect("->");
    const std::vector<Token> results = parse_result_names();
    scanner_.expect("{");
    while (!scanner_.accept("}")) program.steps.push_back(parse_step());
    for (const Token& result : results) program.results.push_back(find_result(result));
    while (!scanner_.at_end()) program.kernels.push_back(parse_kernel());
    return program;
  }

  void expect_end() {
    if (!scanner_.at_end()) scanner_.fail(scanner_.peek(), "expected the end");
  }

 private:
  // (A: f32*, C: mut f32*; n: i64)
  void parse_parameters(std::vector<BufferParam>& buffers, std::vector<ScalarParam>& scalars) {
    scanner_.expect("(");
    if (!scanner_.peek().is(";") && !scanner_.peek().is(")")) {
      do {
        buffers.push_back(parse_buffer_parameter());
      } while (scanner_.accept(","));
    }
    if (scanner_.accept(";")) {
      do {
        const std::string name = exprs_.parse_name("a scalar");
        scanner_.expect(":");
        scalars.push_back({name, exprs_.parse_type()});
        names_.scalars[name] = scalars.back().type;
      } while (scanner_.accept(","));
    }
    scanner_.expect(")");
  }

  BufferParam parse_buffer_parameter() {
    const std::string name = exprs_.parse_name("a buffer");
    scanner_.expect(":");
    const bool writable = scanner_.accept("mut");
    const Buffer buffer = make_buffer(name, exprs_.parse_dtype());
    scanner_.expect("*");
    names_.buffers[name] = buffer;
    return {buffer, writable};
  }

  // (C, D): the buffers may be allocated further down.
  std::vector<Token> parse_result_names() {
    std::vector<Token> results;
    scanner_.expect("(");
    if (scanner_.accept(")")) return results;
    do {
      results.push_back(scanner_.expect(TokenKind::Identifier, "a result"));
    } while (scanner_.accept(","));
    scanner_.expect(")");
    return results;
  }

  Buffer find_result(const Token& result) {
    const auto found = names_.buffers.find(name_from_text(result.text));
    if (found == names_.buffers.end())
      scanner_.fail(result, "the result is neither a parameter nor allocated");
    return found->second;
  }

  HostStep parse_step() {
    const Token word = scanner_.peek();
    if (word.kind != TokenKind::Identifier) scanner_.fail(word, "expected a step or '}'");
    if (scanner_.peek(1).is("=")) return parse_allocate();
    scanner_.next();
    if (word.is("let")) return parse_let();
    if (word.is("launch")) return LaunchStep{exprs_.parse_name("a kernel")};
    if (word.is("free")) return FreeStep{exprs_.parse_buffer()};
    if (word.is("scan")) {
      auto [buffer, length] = parse_range();
      return ScanStep{buffer, length};
    }
    if (word.is("sort")) {
      auto [order, length] = parse_range();
      scanner_.expect("by");
      SortStep step{order, {exprs_.parse_buffer()}, length};
      while (scanner_.accept(",")) step.keys.push_back(exprs_.parse_buffer());
      return step;
    }
    if (word.is("keep")) {
      KeepStep step{exprs_.parse_name("a name"), {}};
      scanner_.expect("of");
      step.tensor = exprs_.parse_name("an operand");
      return step;
    }
    if (word.is("kept")) {
      KeptStep step{{exprs_.parse_buffer()}};
      while (scanner_.accept(",")) step.arrays.push_back(exprs_.parse_buffer());
      return step;
    }
    scanner_.fail(word, "expected let, alloc, launch, scan, sort, free, keep or kept");
  }

  // let n: i64 = e, let n: i32 = read pos[i] at most 100
  HostStep parse_let() {
    const std::string name = exprs_.parse_name("a name");
    scanner_.expect(":");
    const Token type_at = scanner_.peek();
    const Type type = exprs_.parse_type();
    scanner_.expect("=");
    names_.scalars[name] = type;
    if (!scanner_.accept("read"))
      return LetStep{name, exprs_.parse_typed(type, concat("the value of ", name))};
    const auto [buffer, index, predicate] = exprs_.parse_element();
    if (predicate || index.type() != kIndex || type != Type{buffer->element, 1}) {
      scanner_.fail(type_at, concat("a read gives one ", name_of(buffer->element)));
    }
    ReadStep read{name, buffer, index};
    // Without the second word, a buffer of that name is allocated next.
    if (scanner_.peek().is("at") && scanner_.peek(1).is("most")) {
      scanner_.next();
      scanner_.next();
      read.most = scanner_.expect_integer("a number");
      if (scanner_.peek().is("in") && scanner_.peek(1).is("a")) {
        scanner_.next();
        scanner_.next();
        scanner_.expect("row");
        read.of_row = true;
      }
    }
    return read;
  }

  // C = alloc zeroed f32[n]
  HostStep parse_allocate() {
    const std::string name = exprs_.parse_name("a buffer");
    scanner_.expect("=");
    scanner_.expect("alloc");
    const bool zeroed = scanner_.accept("zeroed");
    const Buffer buffer = make_buffer(name, exprs_.parse_dtype());
    scanner_.expect("[");
    Expr size = exprs_.parse_typed(kIndex, "the size");
    scanner_.expect("]");
    names_.buffers[name] = buffer;
    return AllocateStep{buffer, size, zeroed};
  }

  // pos[0, n)
  std::pair<Buffer, Expr> parse_range() {
    Buffer buffer = exprs_.parse_buffer();
    scanner_.expect("[");
    scanner_.expect("0");
    scanner_.expect(",");
    Expr length = exprs_.parse_typed(kIndex, "the length");
    scanner_.expect(")");
    return {buffer, length};
  }

  Scanner scanner_;
  DeclaredNames names_;
  LoopExprParser exprs_;
};

}  // namespace

Kernel parse_kernel(std::string_view text) {
  HostParser parser(text);
  Kernel kernel = parser.parse_kernel();
  parser.expect_end();
  return kernel;
}

HostProgram parse_host_program(std::string_view text) { return HostParser(text).parse_program(); }

}  // namespace tulle::loop
