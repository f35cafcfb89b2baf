#include "engine/training/means.h"

#include <algorithm>
#include <limits>

namespace loom {

Json metricsJson(const Measured& measured) {
  Json json = Json::object();
  for (const auto& [name, value] : measured.metrics) json[name] = numberToJson(value);
  return json;
}

void Means::add(const Measured& part) {
  m_loss += part.loss * part.samples;
  m_samples += part.samples;
  for (const auto& [name, value] : part.metrics) {
    auto sum = std::find_if(m_metrics.begin(), m_metrics.end(), [&](const Sum& one) { return one.name == name; });
    if (sum == m_metrics.end()) sum = m_metrics.insert(m_metrics.end(), Sum{.name = name});
    sum->sum += value * part.samples;
    sum->samples += part.samples;
  }
}

Measured Means::value() const {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  Measured measured{.loss = m_samples > 0 ? m_loss / m_samples : kNothing, .samples = m_samples};
  for (const Sum& sum : m_metrics)
    measured.metrics.emplace_back(sum.name, sum.samples > 0 ? sum.sum / sum.samples : kNothing);
  return measured;
}

Json Means::toJson() const {
  Json metrics = Json::array();
  for (const Sum& sum : m_metrics) metrics.push_back({sum.name, numberToJson(sum.sum), sum.samples});
  return {{"loss", numberToJson(m_loss)}, {"samples", m_samples}, {"metrics", std::move(metrics)}};
}

Means Means::fromJson(const Json& json) {
  Means means;
  means.m_loss = numberFromJson(json.at("loss"));
  means.m_samples = json.at("samples").get<double>();
  for (const Json& metric : json.at("metrics"))
    means.m_metrics.push_back(
        {metric.at(0).get<std::string>(), numberFromJson(metric.at(1)), metric.at(2).get<double>()});
  return means;
}

}  // namespace loom
