#include "engine/search/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/base/error.h"

namespace loom {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  throwError(ErrorCode::badArgument,
             "--over {}: {}; a range is KEY=LOW..HIGH or KEY=log:LOW..HIGH, a list KEY=a,b,c, as in "
             "optimizer.learning_rate=log:1e-4..1",
             text, what);
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

double numberIn(const std::string& text, const std::string& whole) {
  const std::string word = trimmed(text);
  double value = 0;
  const char* const begin = word.data() + (word.starts_with('+') ? 1 : 0);
  const auto [end, fault] = std::from_chars(begin, word.data() + word.size(), value);
  if (fault != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    refuse(whole, fmt::format("'{}' is no number", word));
  return value;
}

// Commas inside brackets, braces and quotes do not part: "[3, 3],[5, 5]" are two values.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

void readChoices(Dimension& dimension, const std::string& values, const std::string& text) {
  for (const std::string& part : listed(values)) {
    const std::string word = trimmed(part);
    if (word.empty()) refuse(text, "one of the values is empty");
    Json value = Json::parse(word, nullptr, false);
    if (value.is_discarded()) value = word;
    if (std::find(dimension.choices.begin(), dimension.choices.end(), value) != dimension.choices.end())
      refuse(text, fmt::format("'{}' is there twice", word));
    dimension.choices.push_back(std::move(value));
  }
}

void readLevels(Dimension& dimension, std::string& values, const std::string& text) {
  const auto slash = values.rfind('/');
  if (slash == std::string::npos) return;
  const double levels = numberIn(values.substr(slash + 1), text);
  if (levels != std::floor(levels) || levels < 2 || levels > 10000)
    refuse(text, fmt::format("{} levels: a whole number from 2 to 10000 is wanted", trimmed(values.substr(slash + 1))));
  dimension.levels = static_cast<int>(levels);
  values.erase(slash);
}

void checkRange(Dimension& dimension, const std::string& text) {
  if (dimension.low > dimension.high)
    refuse(text, fmt::format("the range goes from {:g} down to {:g}: write {:g}..{:g}", dimension.low, dimension.high,
                             dimension.high, dimension.low));
  if (dimension.low == dimension.high)
    refuse(text, fmt::format("both ends are {:g}: set it with --set instead", dimension.low));
  if (dimension.log && dimension.low <= 0)
    refuse(text, fmt::format("a range on a log scale begins above 0, not at {:g}", dimension.low));
  if (dimension.whole && std::floor(dimension.high) < std::ceil(dimension.low))
    refuse(text, fmt::format("there is no whole number from {:g} to {:g}", dimension.low, dimension.high));
}

double scaled(const Dimension& dimension, double value) {
  return dimension.log ? std::log(value) : value;
}

// Six digits: what a person can read, copy and find again, and nearer than any search tells apart.
double rounded(double value) {
  return value == 0 ? 0 : std::stod(fmt::format("{:.6g}", value));
}

}  // namespace

Dimension parseDimension(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || trimmed(text.substr(0, equals)).empty()) refuse(text, "no key and no '='");
  Dimension dimension{.key = trimmed(text.substr(0, equals))};
  std::string values = trimmed(text.substr(equals + 1));
  if (values.empty()) refuse(text, "no values behind the '='");
  bool scaleNamed = false;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [word, flag] : {std::pair{"log:", &Dimension::log}, std::pair{"whole:", &Dimension::whole}})
      if (values.starts_with(word)) {
        dimension.*flag = scaleNamed = more = true;
        values = trimmed(values.substr(std::string_view(word).size()));
      }
  }
  const auto dots = values.find("..");
  if (dots == std::string::npos || values.find(',') != std::string::npos) {
    if (scaleNamed) refuse(text, "a scale needs a range with two dots");
    readChoices(dimension, values, text);
    return dimension;
  }
  readLevels(dimension, values, text);
  dimension.low = numberIn(values.substr(0, dots), text);
  dimension.high = numberIn(values.substr(dots + 2), text);
  checkRange(dimension, text);
  return dimension;
}

std::string toText(const Dimension& dimension) {
  std::string text = dimension.key + '=';
  if (!dimension.choices.empty()) {
    for (const Json& value : dimension.choices) {
      const bool plain = value.is_string() && Json::parse(value.get<std::string>(), nullptr, false).is_discarded() &&
                         value.get<std::string>().find(',') == std::string::npos;
      text += (text.back() == '=' ? "" : ",") + (plain ? value.get<std::string>() : value.dump());
    }
    return text;
  }
  if (dimension.log) text += "log:";
  if (dimension.whole) text += "whole:";
  text += fmt::format("{}..{}", dimension.low, dimension.high);
  return dimension.levels > 0 ? fmt::format("{}/{}", text, dimension.levels) : text;
}

double placeOf(const Dimension& dimension, const Json& value) {
  if (!dimension.choices.empty()) {
    const auto found = std::find(dimension.choices.begin(), dimension.choices.end(), value);
    const auto place = found == dimension.choices.end() ? 0 : found - dimension.choices.begin();
    return dimension.choices.size() < 2
               ? 0
               : static_cast<double>(place) / static_cast<double>(dimension.choices.size() - 1);
  }
  if (!value.is_number()) return 0;
  const double inside = std::clamp(value.get<double>(), dimension.low, dimension.high);
  const double low = scaled(dimension, dimension.low), high = scaled(dimension, dimension.high);
  return std::clamp((scaled(dimension, inside) - low) / (high - low), 0.0, 1.0);
}

Json valueAt(const Dimension& dimension, double place) {
  place = std::clamp(place, 0.0, 1.0);
  if (!dimension.choices.empty())
    return dimension
        .choices[static_cast<std::size_t>(std::llround(place * static_cast<double>(dimension.choices.size() - 1)))];
  const double low = scaled(dimension, dimension.low), high = scaled(dimension, dimension.high);
  const double at = low + place * (high - low);
  const double value = std::clamp(dimension.log ? std::exp(at) : at, dimension.low, dimension.high);
  if (dimension.whole)
    return static_cast<std::int64_t>(
        std::clamp(std::round(value), std::ceil(dimension.low), std::floor(dimension.high)));
  return std::clamp(rounded(value), dimension.low, dimension.high);
}

std::int64_t countOf(const Dimension& dimension) {
  if (!dimension.choices.empty()) return static_cast<std::int64_t>(dimension.choices.size());
  if (!dimension.whole || dimension.high - dimension.low > 1e9) return 0;
  return static_cast<std::int64_t>(std::floor(dimension.high) - std::ceil(dimension.low)) + 1;
}

std::int64_t countOf(const Space& space) {
  std::int64_t all = 1;
  for (const Dimension& each : space) {
    const std::int64_t count = countOf(each);
    if (count == 0 || all > std::int64_t{1} << 30) return 0;
    all *= count;
  }
  return all;
}

std::string keyOf(const Point& point) {
  return Json(point).dump();
}

std::vector<std::string> settingsOf(const Space& space, const Point& point) {
  // Chains are repeated while all their nodes are there; a layer is exchanged when its fields have been set.
  const auto turn = [](const Dimension& each) {
    return each.key.ends_with(".repeat") ? 0 : each.key.ends_with(".layer") ? 2 : 1;
  };
  std::vector<std::string> settings;
  for (const int now : {0, 1, 2})
    for (std::size_t i = 0; i < space.size() && i < point.size(); ++i)
      if (turn(space[i]) == now) settings.push_back(space[i].key + '=' + point[i].dump());
  return settings;
}

}  // namespace loom
