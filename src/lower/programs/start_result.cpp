// Initialises results, or some of their rows.
#include "lower/programs/start_result.h"

#include <utility>

#include "lower/coordinates.h"
#include "lower/frame.h"
#include "lower/kernel_parameters.h"
#include "lower/programs/for_each.h"
#include "lower/storage.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

void start_result(const ResultInfo& result, const Expr& size, const Expr& start,
                  const Options& options, loop::HostProgram& program) {
  const loop::Buffer values = buffers_of(result.name, result.tensor->type).values;
  const std::string kernel = "start_" + result.name;
  const Expr chunks = loop::Var::make(chunks_name(result.name));
  loop::FreshNames names;
  names.fresh(values->name);
  KernelFrame frame(KernelFrame::kind_for(options), options.limits, kernel,
                    options.on_gpu() ? size : chunks, names);
  const auto share = [&](const Expr& at) { return Binary::make(BinaryOp::Div, size * at, chunks); };
  // A thread of a GPU initialises one element.
  loop::Stmt body = loop::Store::make(values, frame.chunk(), start);
  if (!options.on_gpu()) {
    constexpr int lanes = 8;
    const std::string at = names.fresh("at");
    body = loop::For::make(at, share(frame.chunk()), share(frame.chunk() + 1),
                           loop::Store::make(values, loop::Var::make(at), start),
                           loop::ForKind::Vector, lanes);
  }
  program.kernels.push_back(with_parameters(kernel, frame.wrap({}, {body})));
  frame.launch(program.steps);
}

namespace {

// The rows of a result to which several chunks add.
class SharedRowsStart {
 public:
  SharedRowsStart(const nest::Nest& nest, const ResultInfo& result, const SharedRows& shared,
                  const Expr& start)
      : shared_(shared),
        values_(buffers_of(result.name, result.tensor->type).values),
        start_(start ? start : loop::constant({values_->element, 1}, 0)),
        kernel_("zero_" + result.name) {
    const Coordinates coordinates(nest);
    const auto& levels = result.format().levels();
    rows_ = coordinates.level_extent(levels[0].expr, result.indices);
    for (size_t l = 1; l < levels.size(); ++l)
      width_ = width_ * coordinates.level_extent(levels[l].expr, result.indices);
    names_.fresh(values_->name);
  }

  // Scans all rows.
  loop::Kernel in_all_rows(const Options& options) {
    const std::string number = names_.fresh("row"), at = names_.fresh("at");
    const auto start_row = [&](Emitter& out, const Expr& row) {
      const Expr is_shared = shared_.length < position(row + 1) - position(row);
      out.add(loop::If::make(
          is_shared, loop::For::make(at, row * width_, (row + 1) * width_, start_element(at))));
    };
    return kernel_for_each({kernel_, rows_, start_row}, number, options, names_);
  }

  // Neighbouring threads initialise neighbouring elements, or vectors if these divide a row.
  loop::Kernel in_listed_rows(const Options& options) {
    constexpr int64_t lanes = 4;
    const auto* known = width_.as<IntConst>();
    const int64_t each = known && known->value % lanes == 0 ? lanes : 1;
    const std::string row = names_.fresh("row"), at = names_.fresh("at");
    const std::string number = names_.fresh("piece");
    const Expr pieces = Binary::make(BinaryOp::Div, width_, IntConst::make(each));
    const auto start_piece = [&](Emitter& out, const Expr& piece) {
      const Expr listed = Binary::make(BinaryOp::Div, piece, pieces);
      const Expr first =
          loop::Var::make(row) * width_ + Binary::make(BinaryOp::Mod, piece, pieces) * each;
      out.add(loop::Let::make(
          row, loop::Cast::make(DType::Int64, loop::Load::make(shared_.list, listed))));
      out.add(loop::For::make(at, first, first + each, start_element(at),
                              each > 1 ? loop::ForKind::Vector : loop::ForKind::Serial,
                              each > 1 ? static_cast<int>(each) : 0));
    };
    const Expr count = loop::Load::make(shared_.count, IntConst::make(0));
    return kernel_for_some({kernel_, count * pieces, start_piece}, number, shared_.at_most * pieces,
                           options, names_);
  }

 private:
  loop::Stmt start_element(const std::string& at) const {
    return loop::Store::make(values_, loop::Var::make(at), start_);
  }
  Expr position(const Expr& row) const {
    return loop::Cast::make(DType::Int64, loop::Load::make(shared_.positions, row));
  }

  const SharedRows& shared_;
  const loop::Buffer values_;
  const Expr start_;
  const std::string kernel_;
  Expr rows_, width_ = IntConst::make(1);
  loop::FreshNames names_;
};

}  // namespace

void start_shared_rows(const nest::Nest& nest, const ResultInfo& result, const SharedRows& shared,
                       const Expr& start, const Options& options, loop::HostProgram& program) {
  SharedRowsStart rows(nest, result, shared, start);
  program.kernels.push_back(shared.list ? rows.in_listed_rows(options) : rows.in_all_rows(options));
  program.steps.push_back(loop::LaunchStep{program.kernels.back().name});
}

}  // namespace tulle::lower
