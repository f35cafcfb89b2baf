#include "engine/run/sample_look.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 26;
constexpr std::string_view kDigits = "0123456789abcdef";

int digitOf(char digit) {
  const auto at = kDigits.find(digit);
  if (at == std::string_view::npos) throwError(ErrorCode::badData, "'{}' is no digit of a byte", digit);
  return static_cast<int>(at);
}

Json shapeJson(const Shape& shape) {
  return std::vector<std::int64_t>(shape.begin(), shape.end());
}

Shape shapeOf(const Json& json) {
  auto extents = json.get<std::vector<std::int64_t>>();
  double all = 1;
  for (const std::int64_t extent : extents) {
    all *= static_cast<double>(extent);
    if (extent < 1 || all > static_cast<double>(kMostPlaces))
      throwError(ErrorCode::badData, "a shape of {} is none", json.dump());
  }
  return Shape(std::move(extents));
}

Json numbers(const std::vector<float>& values) {
  Json all = Json::array();
  for (const float value : values) all.push_back(numberToJson(value));
  return all;
}

std::vector<float> numbersOf(const Json& json) {
  std::vector<float> values;
  for (const Json& each : json) values.push_back(static_cast<float>(numberFromJson(each)));
  return values;
}

SampleMap mapOf(const Json& json) {
  SampleMap map{json.at("height").get<std::int64_t>(), json.at("width").get<std::int64_t>(),
                numbersOf(json.at("values"))};
  const bool fits = map.height >= 0 && map.width >= 0 && map.height <= kMostPlaces && map.width <= kMostPlaces &&
                    map.height * map.width == static_cast<std::int64_t>(map.values.size());
  if (!fits)
    throwError(ErrorCode::badData, "a map of {} times {} places has {} values", map.height, map.width,
               map.values.size());
  return map;
}

std::string digitsOf(const std::vector<std::uint16_t>& classes) {
  std::string bytes;
  bytes.reserve(2 * classes.size());
  for (const std::uint16_t each : classes) {
    bytes += static_cast<char>(each & 0xff);
    bytes += static_cast<char>(each >> 8);
  }
  return toDigits(bytes);
}

std::vector<std::uint16_t> classesOf(const Json& json, std::int64_t places) {
  const std::string bytes = fromDigits(json.get<std::string>());
  if (static_cast<std::int64_t>(bytes.size()) != 2 * places)
    throwError(ErrorCode::badData, "a map of {} places has {} bytes of classes", places, bytes.size());
  std::vector<std::uint16_t> classes(bytes.size() / 2);
  for (std::size_t i = 0; i < classes.size(); ++i)
    classes[i] = static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[2 * i]) |
                                            static_cast<unsigned char>(bytes[2 * i + 1]) << 8);
  return classes;
}

ClassMap classMapOf(const Json& json) {
  ClassMap map{.height = json.at("height").get<std::int64_t>(),
               .width = json.at("width").get<std::int64_t>(),
               .said = {},
               .truth = {}};
  if (map.height < 1 || map.width < 1 || map.height > kMostPlaces || map.width > kMostPlaces / map.height)
    throwError(ErrorCode::badData, "classes of {} times {} places are none", map.height, map.width);
  map.said = classesOf(json.at("said"), map.height * map.width);
  if (const auto truth = json.find("truth"); truth != json.end()) map.truth = classesOf(*truth, map.height * map.width);
  return map;
}

}  // namespace

SampleMap resized(const SampleMap& map, std::int64_t height, std::int64_t width) {
  SampleMap to{height, width, std::vector<float>(static_cast<std::size_t>(height * width), 0)};
  if (map.values.empty()) return to;
  // Middles of places lie over middles of places.
  const auto along = [](std::int64_t place, std::int64_t of, std::int64_t from) {
    const double at = (static_cast<double>(place) + 0.5) * static_cast<double>(from) / static_cast<double>(of) - 0.5;
    return std::clamp(at, 0.0, static_cast<double>(from - 1));
  };
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double row = along(y, height, map.height), column = along(x, width, map.width);
      const auto top = static_cast<std::int64_t>(row), left = static_cast<std::int64_t>(column);
      const std::int64_t below = std::min(top + 1, map.height - 1), right = std::min(left + 1, map.width - 1);
      const auto at = [&](std::int64_t r, std::int64_t c) {
        return static_cast<double>(map.values[static_cast<std::size_t>(r * map.width + c)]);
      };
      const double down = row - static_cast<double>(top), over = column - static_cast<double>(left);
      const double upper = at(top, left) + over * (at(top, right) - at(top, left)),
                   lower = at(below, left) + over * (at(below, right) - at(below, left));
      to.values[static_cast<std::size_t>(y * width + x)] = static_cast<float>(upper + down * (lower - upper));
    }
  return to;
}

std::string toDigits(std::string_view bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return digits;
}

std::string fromDigits(std::string_view digits) {
  if (digits.size() % 2 != 0)
    throwError(ErrorCode::badData, "bytes have two digits each, and there are {}", digits.size());
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(digitOf(digits[i]) << 4 | digitOf(digits[i + 1]));
  return bytes;
}

std::int64_t SampleLook::classTold() const {
  if (output.kind == OutputKind::numbers) return -1;
  return output.kind == OutputKind::chance && output.shape.elements() == 1 ? 1 : value;
}

Json toJson(const SampleLook& look) {
  Predictions alone;
  alone.outputs = {look.output};
  Json layers = Json::array();
  for (const SampleLook::Layer& each : look.layers)
    layers.push_back({{"name", each.name}, {"shape", shapeJson(each.shape)}});
  Json json = {{"checkpoint", look.checkpoint},
               {"step", look.step},
               {"sample", look.sample},
               {"samples", look.samples},
               {"output", toJson(alone)["outputs"][0]},
               {"said", look.classes.isEmpty() ? numbers(look.said) : Json::array()},
               {"value", look.value},
               {"input", look.input},
               {"shape", shapeJson(look.shape)},
               {"names", look.names},
               {"method", look.method},
               {"map", {{"height", look.map.height}, {"width", look.map.width}, {"values", numbers(look.map.values)}}},
               {"layer", look.layer},
               {"layers", std::move(layers)}};
  if (!look.classes.isEmpty()) {
    json["classes"] = {
        {"height", look.classes.height}, {"width", look.classes.width}, {"said", digitsOf(look.classes.said)}};
    if (!look.classes.truth.empty()) json["classes"]["truth"] = digitsOf(look.classes.truth);
  }
  if (!look.picture.empty())
    json["picture"] = {{"shape", shapeJson(look.pictureShape)},
                       {"bytes", toDigits({reinterpret_cast<const char*>(look.picture.data()), look.picture.size()})}};
  return json;
}

SampleLook sampleLookFromJson(const Json& json) {
  try {
    SampleLook look;
    look.checkpoint = json.at("checkpoint").get<std::string>();
    look.step = json.at("step").get<std::int64_t>();
    look.sample = json.at("sample").get<std::int64_t>();
    look.samples = json.at("samples").get<std::int64_t>();
    look.output = predictionsFromJson({{"checkpoint", ""},
                                       {"step", 0},
                                       {"samples", 0},
                                       {"columns", Json::array()},
                                       {"outputs", {json.at("output")}},
                                       {"rows", Json::array()}})
                      .outputs.at(0);
    look.said = numbersOf(json.at("said"));
    look.value = json.at("value").get<std::int64_t>();
    look.input = json.at("input").get<std::string>();
    look.shape = shapeOf(json.at("shape"));
    look.names = json.value("names", std::vector<std::string>());
    look.method = json.at("method").get<std::string>();
    look.map = mapOf(json.at("map"));
    look.layer = json.at("layer").get<std::string>();
    for (const Json& each : json.at("layers"))
      look.layers.push_back({each.at("name").get<std::string>(), shapeOf(each.at("shape"))});
    if (const auto picture = json.find("picture"); picture != json.end()) {
      look.pictureShape = shapeOf(picture->at("shape"));
      const std::string bytes = fromDigits(picture->at("bytes").get<std::string>());
      if (static_cast<std::int64_t>(bytes.size()) != look.pictureShape.elements())
        throwError(ErrorCode::badData, "a picture of {} has {} bytes", look.pictureShape.toString(), bytes.size());
      const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
      look.picture.assign(first, first + bytes.size());
    }
    if (const auto classes = json.find("classes"); classes != json.end()) look.classes = classMapOf(*classes);
    return look;
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badData, "this is no look at a sample ({})", fault.what());
  }
}

}  // namespace loom
