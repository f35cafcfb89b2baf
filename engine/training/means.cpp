#include "engine/training/means.h"

#include <algorithm>
#include <limits>

#include "engine/metrics/gathered.h"

namespace loom {

Json metricsJson(const Measured& measured) {
  Json json = Json::object();
  for (const auto& [name, value] : measured.metrics) json[name] = numberToJson(value);
  return json;
}

Json toJson(const Measured& measured) {
  Json metrics = Json::array(), sums = Json::array();
  for (const auto& [name, value] : measured.metrics) metrics.push_back({name, numberToJson(value)});
  for (const MetricSums& one : measured.sums) {
    Json values = Json::array();
    for (const double value : one.values) values.push_back(numberToJson(value));
    sums.push_back({one.name, std::move(values)});
  }
  return {{"loss", numberToJson(measured.loss)},
          {"samples", measured.samples},
          {"metrics", std::move(metrics)},
          {"sums", std::move(sums)}};
}

Measured measuredFromJson(const Json& json) {
  Measured measured{.loss = numberFromJson(json.at("loss")), .samples = json.at("samples").get<double>()};
  for (const Json& metric : json.at("metrics"))
    measured.metrics.emplace_back(metric.at(0).get<std::string>(), numberFromJson(metric.at(1)));
  for (const Json& one : json.at("sums")) {
    MetricSums& sums = measured.sums.emplace_back(MetricSums{.name = one.at(0).get<std::string>()});
    for (const Json& value : one.at(1)) sums.values.push_back(numberFromJson(value));
  }
  return measured;
}

void addSums(std::vector<double>& sums, const std::vector<double>& more, const ResultSums* rule) {
  if (const GatheredSums* const gathered = asGathered(rule)) return gathered->join(sums, more);
  if (!more.empty() && sums.size() != more.size()) sums.assign(more.size(), 0);
  for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
}

void Means::add(const Measured& part) {
  m_loss += part.loss * part.samples;
  m_samples += part.samples;
  for (const auto& [name, value] : part.metrics) {
    auto sum = std::find_if(m_metrics.begin(), m_metrics.end(), [&](const Sum& one) { return one.name == name; });
    if (sum == m_metrics.end()) sum = m_metrics.insert(m_metrics.end(), Sum{.name = name});
    sum->samples += part.samples;
    const auto own =
        std::find_if(part.sums.begin(), part.sums.end(), [&](const MetricSums& sums) { return sums.name == name; });
    if (own == part.sums.end()) {
      sum->sum += value * part.samples;
      continue;
    }
    sum->sums.rule = own->rule;
    addSums(sum->sums.values, own->values, own->rule);
  }
}

void Means::know(std::string_view name, const ResultSums& rule) {
  for (Sum& sum : m_metrics)
    if (sum.name == name && !sum.isMean()) sum.sums.rule = &rule;
}

Measured Means::value() const {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  Measured measured{.loss = m_samples > 0 ? m_loss / m_samples : kNothing, .samples = m_samples};
  for (const Sum& sum : m_metrics)
    if (sum.isMean()) {
      measured.metrics.emplace_back(sum.name, sum.samples > 0 ? sum.sum / sum.samples : kNothing);
    } else {
      const bool known = sum.sums.rule != nullptr && !sum.sums.values.empty();
      measured.metrics.emplace_back(sum.name, known ? sum.sums.rule->finish(sum.sums.values) : kNothing);
      measured.sums.push_back({sum.name, sum.sums.rule, sum.sums.values});
    }
  return measured;
}

Json Means::toJson() const {
  Json metrics = Json::array();
  for (const Sum& sum : m_metrics) {
    metrics.push_back({sum.name, numberToJson(sum.sum), sum.samples});
    if (sum.isMean()) continue;
    metrics.back().push_back(Json::array());
    for (const double value : sum.sums.values) metrics.back().back().push_back(numberToJson(value));
  }
  return {{"loss", numberToJson(m_loss)}, {"samples", m_samples}, {"metrics", std::move(metrics)}};
}

Means Means::fromJson(const Json& json) {
  Means means;
  means.m_loss = numberFromJson(json.at("loss"));
  means.m_samples = json.at("samples").get<double>();
  for (const Json& metric : json.at("metrics")) {
    Sum& sum = means.m_metrics.emplace_back();
    sum.name = metric.at(0).get<std::string>();
    sum.sum = numberFromJson(metric.at(1));
    sum.samples = metric.at(2).get<double>();
    if (metric.size() < 4) continue;
    for (const Json& value : metric.at(3)) sum.sums.values.push_back(numberFromJson(value));
  }
  return means;
}

}  // namespace loom
