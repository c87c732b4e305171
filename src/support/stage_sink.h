// Receives the text of each compiler stage.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tulle {

// Called with the name of the stage's folder and the text of its output.
using StageSink = std::function<void(std::string_view stage, const std::string& text)>;

// Produces the text only if the sink is set.
inline void show(const StageSink& sink, std::string_view stage,
                 const std::function<std::string()>& text) {
  if (sink) sink(stage, text());
}

}  // namespace tulle
