// The table of named composite formats.
#include "format/composite_names.h"

#include <algorithm>

#include "format/composite.h"
#include "support/check.h"

namespace tulle {

namespace {

using Arguments = std::vector<int64_t>;

struct NamedComposite {
  std::string_view name;
  std::string_view usage;  // "hyb(c,k)"
  std::string_view takes;  // a description of the arguments, for messages
  // Whether the arguments are in range.
  bool (*accepts)(const Arguments&);
  std::string (*text)(const Arguments&);
  // The only arguments with which the format could have this name.
  Arguments (*guess)(const CompositeFormat&);
};

constexpr int64_t kMostBuckets = 20;

// In each column range, rows are grouped by length rounded up to a power of two; longer rows are
// stored in pieces.
std::string hyb_text(const Arguments& arguments) {
  std::string text = concat("columns(", arguments[0], "){ ");
  int64_t width = 1;
  for (int64_t bucket = 0; bucket <= arguments[1]; ++bucket, width *= 2) {
    text += concat("rows(nnz<=", width, "): dell(", width, "); ");
  }
  return concat(text, "rest: pieces(", width / 2, ") }");
}

const NamedComposite kNamed[] = {
    {"hyb", "hyb(c,k)",
     "the number of column ranges (1 to 1024) and the logarithm of the widest rows (0 to 20)",
     [](const Arguments& a) {
       return a[0] >= 1 && a[0] <= kMostColumnRanges && a[1] >= 0 && a[1] <= kMostBuckets;
     },
     hyb_text,
     [](const CompositeFormat& format) {
       const int64_t ranges = format.parts()[0].ranges;
       return Arguments{ranges, static_cast<int64_t>(format.parts().size()) / ranges - 2};
     }},
    {"dia-csr", "dia-csr(l,u)", "the first and the last diagonal of the band",
     [](const Arguments& a) { return a[0] <= a[1]; },
     [](const Arguments& a) { return concat("{ band(", a[0], ",", a[1], "): dia; rest: csr }"); },
     [](const CompositeFormat& format) {
       const Selector& band = format.parts()[0].selector;
       return Arguments{band.first, band.second};
     }},
    {"bsr-csr", "bsr-csr(r,c)", "the rows and columns of a block",
     [](const Arguments& a) { return a[0] >= 1 && a[1] >= 1; },
     [](const Arguments& a) {
       return concat("{ blocks(", a[0], ",", a[1], ", fill>=0.25): bsr(", a[0], ",", a[1],
                     "); rest: csr }");
     },
     [](const CompositeFormat& format) {
       const Selector& blocks = format.parts()[0].selector;
       return Arguments{blocks.first, blocks.second};
     }},
};

const NamedComposite* find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kNamed), std::end(kNamed),
                                   [&](const NamedComposite& named) { return named.name == name; });
  return found == std::end(kNamed) ? nullptr : found;
}

}  // namespace

bool is_composite_name(std::string_view name) { return find(name) != nullptr; }

std::string composite_named(std::string_view name, const Arguments& arguments) {
  const NamedComposite* named = find(name);
  TULLE_CHECK(named, "the composite format ", name);
  if (arguments.size() != 2 || !named->accepts(arguments)) {
    user_error("The format '", name, "' takes ", named->takes, ": ", named->usage, ".");
  }
  return named->text(arguments);
}

std::optional<std::string> composite_name_of(std::string_view text, int rank) {
  const CompositeFormat format = CompositeFormat::parse(text, rank);
  for (const NamedComposite& named : kNamed) {
    const Arguments arguments = named.guess(format);
    if (!named.accepts(arguments)) continue;
    if (CompositeFormat::parse(named.text(arguments), rank) == format) {
      return concat(named.name, "(", arguments[0], ",", arguments[1], ")");
    }
  }
  return std::nullopt;
}

std::string composite_names() {
  std::string names;
  for (const NamedComposite& named : kNamed)
    names += concat(names.empty() ? "" : ", ", named.usage);
  return names;
}

}  // namespace tulle
