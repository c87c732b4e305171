// Suggests a name in place of one that does not exist.
#pragma once

#include <string>
#include <string_view>

namespace tulle {

// " (did you mean 'csr'?)" if a name of the list "coo, csr, bsr(r,c)" is similar to the given one,
// else "". The case of letters does not matter.
std::string did_you_mean(std::string_view given, std::string_view list);

}  // namespace tulle
