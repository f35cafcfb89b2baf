#include "engine/run/layer_record.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr int kMantissaBits = 23, kBiasOfExponent = 127;

// Of a positive number: quarters of its octave are equal in length, so a bin is read off its bits.
int binOfMagnitude(float magnitude) {
  const auto bits = std::bit_cast<std::uint32_t>(magnitude);
  const int octave = static_cast<int>(bits >> kMantissaBits) - kBiasOfExponent;
  const int quarter = static_cast<int>(bits >> (kMantissaBits - 2)) & 3;
  return ValueDistribution::kPerOctave * (octave - ValueDistribution::kLeastPower) + quarter;
}

double magnitudeAt(int bin) {  // where the bin of a positive number begins
  const int octave = bin / ValueDistribution::kPerOctave + ValueDistribution::kLeastPower;
  return std::ldexp(1 + 0.25 * (bin % ValueDistribution::kPerOctave), octave);
}

double recordedReal(const Json& json, const char* key) {
  return numberFromJson(json.at(key));
}

}  // namespace

ValueDistribution::ValueDistribution() : m_least(kNoNumber), m_most(kNoNumber) {}

int ValueDistribution::binOf(float value) {
  const int bin = binOfMagnitude(std::abs(value));
  if (value == 0 || bin < 0) return kZero;
  const int inside = std::min(bin, kOfSign - 1);
  return value > 0 ? kZero + 1 + inside : kZero - 1 - inside;
}

double ValueDistribution::lowerOf(int bin) {
  return bin > kZero ? magnitudeAt(bin - kZero - 1) : bin < kZero ? -magnitudeAt(kZero - bin) : -magnitudeAt(0);
}

double ValueDistribution::upperOf(int bin) {
  return bin > kZero ? magnitudeAt(bin - kZero) : bin < kZero ? -magnitudeAt(kZero - 1 - bin) : magnitudeAt(0);
}

std::int64_t& ValueDistribution::place(int bin) {
  if (m_counts.empty()) m_from = bin;
  if (bin < m_from) {
    m_counts.insert(m_counts.begin(), static_cast<std::size_t>(m_from - bin), 0);
    m_from = bin;
  }
  if (const auto at = static_cast<std::size_t>(bin - m_from); at >= m_counts.size()) m_counts.resize(at + 1, 0);
  return m_counts[static_cast<std::size_t>(bin - m_from)];
}

void ValueDistribution::add(std::span<const float> values) {
  std::array<std::int64_t, kBins> counts{};
  float least = std::numeric_limits<float>::infinity(), most = -least;
  double sum = 0, squares = 0;
  std::int64_t finite = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    ++finite;
    ++counts[static_cast<std::size_t>(binOf(value))];
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  m_notFinite += static_cast<std::int64_t>(values.size()) - finite;
  if (finite == 0) return;
  m_least = m_count > 0 ? std::min<double>(m_least, least) : least;
  m_most = m_count > 0 ? std::max<double>(m_most, most) : most;
  m_count += finite;
  m_sum += sum;
  m_squares += squares;
  for (int bin = 0; bin < kBins; ++bin)
    if (const std::int64_t count = counts[static_cast<std::size_t>(bin)]; count > 0) place(bin) += count;
}

void ValueDistribution::add(const ValueDistribution& other) {
  m_notFinite += other.m_notFinite;
  if (other.m_count == 0) return;
  m_least = m_count > 0 ? std::min(m_least, other.m_least) : other.m_least;
  m_most = m_count > 0 ? std::max(m_most, other.m_most) : other.m_most;
  m_count += other.m_count;
  m_sum += other.m_sum;
  m_squares += other.m_squares;
  for (std::size_t i = 0; i < other.m_counts.size(); ++i)
    if (other.m_counts[i] > 0) place(other.m_from + static_cast<int>(i)) += other.m_counts[i];
}

double ValueDistribution::mean() const {
  return m_count > 0 ? m_sum / static_cast<double>(m_count) : kNoNumber;
}

double ValueDistribution::deviation() const {
  if (m_count == 0) return kNoNumber;
  const double middle = mean();
  return std::sqrt(std::max(0.0, m_squares / static_cast<double>(m_count) - middle * middle));
}

double ValueDistribution::quantile(double share) const {
  if (m_count == 0) return kNoNumber;
  const double wanted = std::clamp(share, 0.0, 1.0) * static_cast<double>(m_count);
  double below = 0;
  for (std::size_t i = 0; i < m_counts.size(); ++i) {
    const auto here = static_cast<double>(m_counts[i]);
    if (here == 0 || below + here < wanted) {
      below += here;
      continue;
    }
    const int bin = m_from + static_cast<int>(i);
    if (bin == kZero) return std::clamp(0.0, m_least, m_most);
    const double lower = lowerOf(bin), upper = upperOf(bin);
    return std::clamp(lower + (upper - lower) * (wanted - below) / here, m_least, m_most);
  }
  return m_most;
}

std::int64_t ValueDistribution::countOf(int bin) const {
  const int at = bin - m_from;
  return at >= 0 && at < static_cast<int>(m_counts.size()) ? m_counts[static_cast<std::size_t>(at)] : 0;
}

Json ValueDistribution::toJson() const {
  return {{"count", m_count},
          {"not_finite", m_notFinite},
          {"least", numberToJson(m_least)},
          {"most", numberToJson(m_most)},
          {"sum", numberToJson(m_sum)},
          {"squares", numberToJson(m_squares)},
          {"from", m_from},
          {"bins", m_counts}};
}

ValueDistribution ValueDistribution::fromJson(const Json& json) {
  ValueDistribution read;
  read.m_count = json.at("count").get<std::int64_t>();
  read.m_notFinite = json.at("not_finite").get<std::int64_t>();
  read.m_least = recordedReal(json, "least");
  read.m_most = recordedReal(json, "most");
  read.m_sum = recordedReal(json, "sum");
  read.m_squares = recordedReal(json, "squares");
  read.m_from = json.at("from").get<int>();
  read.m_counts = json.at("bins").get<std::vector<std::int64_t>>();
  std::int64_t counted = 0;
  bool sound = read.m_from >= 0 && read.m_counts.size() <= static_cast<std::size_t>(kBins) &&
               read.m_from + static_cast<int>(read.m_counts.size()) <= kBins;
  for (const std::int64_t count : read.m_counts) {
    sound = sound && count >= 0 && count <= read.m_count - counted;
    counted += sound ? count : 0;
  }
  if (!sound || counted != read.m_count || read.m_notFinite < 0)
    throwError(ErrorCode::badData, "a recorded distribution of {} values has bins that hold another number",
               read.m_count);
  return read;
}

double LayerRecord::Norms::updateRatio() const {
  return weight > 0 ? update / weight : kNoNumber;
}

double LayerRecord::largest() const {
  return activations.count() == 0 ? kNoNumber : std::max(std::abs(activations.least()), std::abs(activations.most()));
}

void LayerRecord::add(const LayerRecord& another) {
  if (another.norms) {
    Norms& sum = norms ? *norms : norms.emplace();
    sum.weight = std::hypot(sum.weight, another.norms->weight);
    sum.gradient = std::hypot(sum.gradient, another.norms->gradient);
    sum.update = std::hypot(sum.update, another.norms->update);
  }
  units += another.units;
  dead += another.dead;
  activations.add(another.activations);
  gradients.add(another.gradients);
}

Json LayerRecord::toJson() const {
  Json json = {{"activations", activations.toJson()}, {"gradients", gradients.toJson()}};
  if (norms) {
    json["weight_norm"] = numberToJson(norms->weight);
    json["gradient_norm"] = numberToJson(norms->gradient);
    json["update_norm"] = numberToJson(norms->update);
  }
  if (units > 0) {
    json["units"] = units;
    json["dead"] = dead;
  }
  return json;
}

LayerRecord LayerRecord::fromJson(const Json& json) {
  LayerRecord record;
  if (json.contains("weight_norm"))
    record.norms = Norms{recordedReal(json, "weight_norm"), recordedReal(json, "gradient_norm"),
                         recordedReal(json, "update_norm")};
  record.units = json.value("units", std::int64_t{0});
  record.dead = json.value("dead", std::int64_t{0});
  record.activations = ValueDistribution::fromJson(json.at("activations"));
  record.gradients = ValueDistribution::fromJson(json.at("gradients"));
  return record;
}

RecordedStep RecordedStep::fromJson(const Json& body) {
  RecordedStep step;
  step.step = body.at("step").get<std::int64_t>();
  step.ms = recordedReal(body, "ms");
  for (const Json& update : body.at("updates")) {
    auto& layers = step.networks[update.at("network").get<std::string>()];
    for (const auto& [name, layer] : update.at("layers").items()) layers[name] = LayerRecord::fromJson(layer);
  }
  return step;
}

void RecordedSteps::take(std::string_view line) {
  const bool recorded = line.find(R"("kind":"recorded")") != std::string_view::npos;
  if (!recorded && line.find(R"("kind":"started")") == std::string_view::npos) return;
  try {
    const Json body = Json::parse(line);
    const std::string kind = body.at("kind").get<std::string>();
    if (kind == "started") {
      const std::int64_t from = body.value("resumed_from", std::int64_t{0});
      m_changed |= std::erase_if(m_steps, [from](const RecordedStep& each) { return each.step > from; }) > 0;
    } else if (kind == "recorded") {
      RecordedStep step = RecordedStep::fromJson(body);
      std::erase_if(m_steps, [&](const RecordedStep& each) { return each.step >= step.step; });
      m_steps.push_back(std::move(step));
      m_changed = true;
    }
  } catch (const std::exception&) {
    ++m_skipped;
  }
  if (m_steps.size() <= kMost) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < m_steps.size(); i += 2) {
    if (kept != i) m_steps[kept] = std::move(m_steps[i]);
    ++kept;
  }
  m_steps.resize(kept);
}

bool RecordedSteps::read() {
  std::ifstream file(m_file, std::ios::binary);
  if (!file) return false;
  m_changed = false;
  file.seekg(0, std::ios::end);
  if (static_cast<std::int64_t>(file.tellg()) < m_offset) {  // another file
    m_offset = 0;
    m_changed = !m_steps.empty();
    m_steps.clear();
  }
  file.seekg(m_offset);
  std::string line;
  while (std::getline(file, line)) {
    if (file.eof()) break;  // without its end: it is being written
    m_offset += static_cast<std::int64_t>(line.size()) + 1;
    take(line);
  }
  return m_changed;
}

}  // namespace loom
