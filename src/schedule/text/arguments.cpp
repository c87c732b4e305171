// Converts between the arguments in a text and the fields of a rewrite.
#include "schedule/text/arguments.h"

#include "support/joined.h"

namespace tulle::schedule {

namespace {

// Calls `use` with each positional parameter and its arguments.
template <typename Use>
void for_each_parameter(const RewriteKind& kind, const std::vector<Argument>& arguments,
                        const Use& use) {
  std::vector<const Argument*> positional;
  for (const Argument& argument : arguments) {
    if (argument.keyword.empty()) positional.push_back(&argument);
  }
  size_t at = 0;
  for (const Parameter& parameter : kind.parameters) {
    if (!parameter.keyword.empty()) continue;
    std::vector<const Argument*> own;
    for (; own.size() < parameter.most && at < positional.size(); ++at)
      own.push_back(positional[at]);
    use(parameter, own);
  }
}

// The value of a parameter that takes several arguments.
ArgumentValue list_of(const std::vector<const Argument*>& arguments) {
  NameList names;
  for (const Argument* argument : arguments)
    names.push_back(std::get<std::string>(argument->value));
  return names;
}

bool is_name(ArgumentRole role) {
  return role != ArgumentRole::Number && role != ArgumentRole::Word && role != ArgumentRole::Format;
}

}  // namespace

Rewrite rewrite_of(const RewriteKind& kind, const std::vector<Argument>& arguments) {
  Rewrite rewrite = kind.make();
  for_each_parameter(kind, arguments, [&](const Parameter& parameter, const auto& own) {
    parameter.set(rewrite, parameter.most > 1 ? list_of(own)
                           : own.empty()      ? ArgumentValue()
                                              : own.front()->value);
  });
  for (const Argument& argument : arguments) {
    if (!argument.keyword.empty())
      kind.with_keyword(argument.keyword)->set(rewrite, argument.value);
  }
  return rewrite;
}

std::vector<Argument> arguments_of(const Rewrite& rewrite) {
  std::vector<Argument> arguments;
  for (const Parameter& parameter : kind_of(rewrite).parameters) {
    const ArgumentValue value = parameter.get(rewrite);
    if (std::holds_alternative<std::monostate>(value)) continue;
    if (parameter.most > 1) {
      for (const std::string& name : std::get<NameList>(value)) arguments.push_back({"", name});
    } else {
      arguments.push_back({std::string(parameter.keyword), value});
    }
  }
  return arguments;
}

std::vector<Span> places_of_names(const RewriteKind& kind, const std::vector<Argument>& arguments) {
  std::vector<Span> places;
  for_each_parameter(kind, arguments, [&](const Parameter& parameter, const auto& own) {
    if (!is_name(parameter.role)) return;
    for (const Argument* argument : own) {
      if (std::holds_alternative<NameList>(argument->value)) {
        places.insert(places.end(), argument->name_places.begin(), argument->name_places.end());
      } else {
        places.push_back(argument->place);
      }
    }
  });
  return places;
}

std::vector<NameInStep> names_of(const Step& step) {
  std::vector<NameInStep> names;
  const auto add = [&](const std::string& name, ArgumentRole role) {
    const bool has_place = names.size() < step.name_places.size();
    names.push_back({name, role, has_place ? step.name_places[names.size()] : Span()});
  };
  for (const Parameter& parameter : kind_of(step.rewrite).parameters) {
    if (!is_name(parameter.role)) continue;
    const ArgumentValue value = parameter.get(step.rewrite);
    if (const auto* name = std::get_if<std::string>(&value)) add(*name, parameter.role);
    if (const auto* several = std::get_if<NameList>(&value)) {
      for (const std::string& name : *several) add(name, parameter.role);
    }
  }
  return names;
}

Rewrite renamed(
    Rewrite rewrite,
    const std::function<std::string(const std::string& name, ArgumentRole role)>& rename) {
  for (const Parameter& parameter : kind_of(rewrite).parameters) {
    if (!is_name(parameter.role)) continue;
    ArgumentValue value = parameter.get(rewrite);
    if (auto* name = std::get_if<std::string>(&value)) *name = rename(*name, parameter.role);
    if (auto* several = std::get_if<NameList>(&value)) {
      for (std::string& name : *several) name = rename(name, parameter.role);
    }
    parameter.set(rewrite, value);
  }
  return rewrite;
}

std::string to_string(const Argument& argument) {
  const std::string keyword = argument.keyword.empty() ? "" : argument.keyword + "=";
  if (const auto* name = std::get_if<std::string>(&argument.value)) return keyword + *name;
  if (const auto* number = std::get_if<int64_t>(&argument.value)) return concat(keyword, *number);
  return concat(keyword, "(", joined(std::get<NameList>(argument.value)), ")");
}

const Parameter& RewriteKind::parameter(size_t at) const {
  const Parameter* last = nullptr;
  for (const Parameter& parameter : parameters) {
    if (!parameter.keyword.empty()) continue;
    last = &parameter;
    if (at == 0) break;
    --at;
  }
  return *last;
}

const Parameter* RewriteKind::with_keyword(std::string_view keyword) const {
  for (const Parameter& parameter : parameters) {
    if (!parameter.keyword.empty() && parameter.keyword == keyword) return &parameter;
  }
  return nullptr;
}

}  // namespace tulle::schedule
