// Helpers for the entries of the table of rewrites: each makes a Parameter from a role and a field
// of the step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schedule/rewrites.h"

namespace tulle::schedule {

constexpr size_t kAnyNumber = SIZE_MAX;

template <typename S>
Parameter name(ArgumentRole role, std::string S::* field) {
  return {.role = role,
          .get = [=](const Rewrite& step) { return std::get<S>(step).*field; },
          .set =
              [=](Rewrite& step, const ArgumentValue& value) {
                std::get<S>(step).*field = std::get<std::string>(value);
              }};
}
template <typename S>
Parameter loop(std::string S::* field) {
  return name(ArgumentRole::Loop, field);
}
template <typename S>
Parameter new_loop(std::string S::* field) {
  return name(ArgumentRole::NewLoop, field);
}
template <typename S>
Parameter new_workspace(std::string S::* field) {
  return name(ArgumentRole::NewWorkspace, field);
}
template <typename S>
Parameter operand(std::string S::* field) {
  return name(ArgumentRole::Operand, field);
}

template <typename S>
Parameter number(int64_t S::* field, const Range& range) {
  return {.role = ArgumentRole::Number,
          .get = [=](const Rewrite& step) { return std::get<S>(step).*field; },
          .set =
              [=](Rewrite& step, const ArgumentValue& value) {
                std::get<S>(step).*field = std::get<int64_t>(value);
              },
          .range = range};
}
// An optional number.
template <typename S>
Parameter number(std::optional<int64_t> S::* field, const Range& range) {
  return {.role = ArgumentRole::Number,
          .get = [=](const Rewrite& step) -> ArgumentValue {
            const std::optional<int64_t>& number = std::get<S>(step).*field;
            return number ? ArgumentValue(*number) : ArgumentValue();
          },
          .set =
              [=](Rewrite& step, const ArgumentValue& value) {
                const auto* number = std::get_if<int64_t>(&value);
                std::get<S>(step).*field = number ? std::optional(*number) : std::nullopt;
              },
          .least = 0,
          .range = range};
}

// All remaining arguments, each a loop.
template <typename S>
Parameter loops(NameList S::* field, size_t least) {
  return {.role = ArgumentRole::Loop,
          .get = [=](const Rewrite& step) { return std::get<S>(step).*field; },
          .set =
              [=](Rewrite& step, const ArgumentValue& value) {
                std::get<S>(step).*field = std::get<NameList>(value);
              },
          .least = least,
          .most = kAnyNumber};
}

// (j, k). With `bare` also k, or nothing at all.
template <typename S>
Parameter loop_list(NameList S::* field, bool S::* bare) {
  return {.role = ArgumentRole::Loop,
          .get = [=](const Rewrite& step) -> ArgumentValue {
            const NameList& names = std::get<S>(step).*field;
            if (!(std::get<S>(step).*bare) || names.size() > 1) return names;
            return names.empty() ? ArgumentValue() : names.front();
          },
          .set =
              [=](Rewrite& step, const ArgumentValue& value) {
                const auto* name = std::get_if<std::string>(&value);
                const auto* names = std::get_if<NameList>(&value);
                std::get<S>(step).*field = names ? *names : name ? NameList{*name} : NameList();
                std::get<S>(step).*bare = !names;
              },
          .least = 0,
          .takes_list = true};
}

template <typename T>
using WordValues = std::vector<std::pair<std::string_view, std::type_identity_t<T>>>;

// One of a few words. Each stands for a value of the field.
template <typename S, typename T>
Parameter word(T S::* field, const WordValues<T>& words) {
  Parameter parameter{.role = ArgumentRole::Word,
                      .get = [=](const Rewrite& step) -> ArgumentValue {
                        for (const auto& [word, value] : words) {
                          if (std::get<S>(step).*field == value) return std::string(word);
                        }
                        return {};
                      },
                      .set =
                          [=](Rewrite& step, const ArgumentValue& written) {
                            for (const auto& [word, value] : words) {
                              if (std::get<std::string>(written) == word)
                                std::get<S>(step).*field = value;
                            }
                          }};
  for (const auto& [word, value] : words) parameter.words.emplace_back(word);
  return parameter;
}
// An optional word. If it is omitted, the field keeps the value `otherwise`.
template <typename S, typename T>
Parameter word(T S::* field, const WordValues<T>& words, std::type_identity_t<T> otherwise) {
  Parameter parameter = word(field, words);
  parameter.least = 0;
  parameter.set = [=, set = parameter.set](Rewrite& step, const ArgumentValue& written) {
    std::get<S>(step).*field = otherwise;
    if (std::holds_alternative<std::string>(written)) set(step, written);
  };
  return parameter;
}
// The same after a keyword: by=nnz.
template <typename S, typename T>
Parameter keyword(std::string_view keyword, T S::* field, const WordValues<T>& words,
                  std::type_identity_t<T> otherwise) {
  Parameter parameter = word(field, words, otherwise);
  parameter.keyword = keyword;
  return parameter;
}

// The index of a type among the alternatives of a variant.
template <typename S, typename... All>
constexpr size_t place_in(const std::variant<All...>*) {
  size_t at = 0;
  (void)((std::is_same_v<S, All> || (++at, false)) || ...);
  return at;
}

template <typename S>
RewriteKind make_kind(std::string_view name, std::string_view usage,
                      std::vector<Parameter> parameters) {
  return {.name = name,
          .usage = usage,
          .parameters = std::move(parameters),
          .alternative = place_in<S>(static_cast<const Rewrite*>(nullptr)),
          .make = [] { return Rewrite(S{}); }};
}

template <typename S>
RewriteKind kind(std::string_view name, std::string_view usage,
                 Result<nest::Nest> (*apply)(const nest::Nest&, const S&, Remarks*),
                 std::vector<Parameter> parameters) {
  RewriteKind found = make_kind<S>(name, usage, std::move(parameters));
  found.apply = [=](const nest::Nest& nest, const Rewrite& step, Remarks* remarks) {
    return apply(nest, std::get<S>(step), remarks);
  };
  return found;
}
// For a rewrite without remarks.
template <typename S>
RewriteKind kind(std::string_view name, std::string_view usage,
                 Result<nest::Nest> (*apply)(const nest::Nest&, const S&),
                 std::vector<Parameter> parameters) {
  RewriteKind found = make_kind<S>(name, usage, std::move(parameters));
  found.apply = [=](const nest::Nest& nest, const Rewrite& step, Remarks*) {
    return apply(nest, std::get<S>(step));
  };
  return found;
}

}  // namespace tulle::schedule
