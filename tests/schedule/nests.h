// Nests for the tests of rewrites, and functions that inspect the results.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "nest/parse.h"
#include "nest/verify.h"
#include "schedule/schedule.h"
#include "tulle/error.h"

namespace tulle::schedule {

// CSR times dense.
inline constexpr std::string_view kSpmm = R"(nest {
  operand A: f32, i32, csr
  operand B: f32
  result C: f32
  forall i { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } }
})";

// CSR times CSR.
inline constexpr std::string_view kSpgemm = R"(nest {
  operand A: f32, i32, csr
  operand B: f32, i32, csr
  result C: f32, i32, csr
  forall i { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } }
})";

// Sampled product of two dense matrices.
inline constexpr std::string_view kSddmm = R"(nest {
  operand A: f32, i32, csr
  operand Q: f32
  operand K: f32
  result S: f32, i32, like A, csr
  forall i { forall j { forall d { S[i,j] += A[i,j] * Q[i,d] * K[j,d] } } }
})";

// Rows weighted by the softmax of the entries: a maximum, and sums that are scaled with it.
inline constexpr std::string_view kSoftmax = R"(nest {
  operand A: f32, i32, csr
  operand V: f32
  result O: f32
  workspace top: f32
  workspace total: f32, with top
  workspace sum: f32, with top
  extent d = 8
  forall i {
    where top, total, sum { forall d { O[i,d] = sum[d] / total } } producing {
      forall j {
        sequence {
          top max= A[i,j]
          total scaled= within(A[i,j], 1)
          forall d { sum[d] scaled= within(A[i,j], V[j,d]) }
        }
      }
    }
  }
})";

// Dense, elementwise, with a known extent.
inline constexpr std::string_view kDense = R"(nest {
  operand X: f32
  result Y: f32
  extent j = 8
  forall i { forall j { Y[i,j] = X[i,j] * 2 } }
})";

// The nest after the schedule, without its declarations, on one line.
inline std::string body_after(std::string_view nest, std::string_view schedule) {
  const nest::Nest result = apply(parse_schedule(schedule), nest::parse_nest(nest));
  const std::string text = nest::to_string(result);
  EXPECT_EQ(nest::to_string(nest::parse_nest(text)), text);
  std::string body;
  for (size_t at = std::min(text.find("\n  forall"),
                            std::min(text.find("\n  where"), text.find("\n  sequence")));
       at < text.size() - 3; ++at) {
    const bool space = text[at] == ' ' || text[at] == '\n';
    if (!space) body += text[at];
    if (space && !body.empty() && body.back() != ' ') body += ' ';
  }
  return body;
}

// Expects that the last step is refused for a reason that contains `part`.
inline void expect_refused(std::string_view nest, std::string_view schedule,
                           std::string_view part) {
  try {
    const nest::Nest result = apply(parse_schedule(schedule), nest::parse_nest(nest));
    ADD_FAILURE() << "accepted:\n" << nest::to_string(result);
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    // The caret is under the step or one of its arguments.
    const size_t last = schedule.rfind(';') == std::string_view::npos ? 0 : schedule.rfind(';') + 2;
    const size_t carets = message.rfind("\n  ") + 3;
    EXPECT_GE(message.find('^', carets) - carets, last) << message;
  }
}

// The remarks of the schedule.
inline Remarks remarks_of(std::string_view nest, std::string_view schedule) {
  Remarks remarks;
  apply(parse_schedule(schedule), nest::parse_nest(nest), &remarks);
  return remarks;
}

}  // namespace tulle::schedule
