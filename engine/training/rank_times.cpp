#include "engine/training/rank_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/json.h"

namespace loom {

RankStep RankClock::take(double waited, double data) {
  const Clock::time_point now = Clock::now();
  RankStep step;
  if (m_from)
    step = {.all = std::chrono::duration<double>(now - *m_from).count(),
            .waited = waited - m_waited,
            .data = data - m_data};
  m_from = now;
  m_waited = waited;
  m_data = data;
  return step;
}

void RankClock::restart(double waited, double data) {
  take(waited, data);
}

void RankSums::add(const std::vector<RankStep>& step) {
  if (step.empty() || std::any_of(step.begin(), step.end(), [](const RankStep& each) { return !(each.all > 0); }))
    return;
  m_sums.resize(step.size());
  const double least = std::min_element(step.begin(), step.end(), [](const RankStep& a, const RankStep& b) {
                         return a.waited < b.waited;
                       })->waited;
  for (std::size_t rank = 0; rank < step.size(); ++rank) {
    m_sums[rank].computing += std::max(0.0, step[rank].all - step[rank].waited - step[rank].data);
    m_sums[rank].exchanging += least;
    m_sums[rank].waiting += step[rank].waited - least;
    m_sums[rank].data += step[rank].data;
  }
  ++m_steps;
}

Json RankSums::take(const std::vector<std::string>& hosts) {
  Json fields = {{"steps", m_steps}};
  const auto list = [&](const char* key, double Sum::*part) {
    Json& values = fields[key] = Json::array();
    for (const Sum& sum : m_sums) values.push_back(std::round(sum.*part / m_steps * 1e7) / 1e4);
  };
  list("computing_ms", &Sum::computing);
  list("exchanging_ms", &Sum::exchanging);
  list("waiting_ms", &Sum::waiting);
  list("data_ms", &Sum::data);
  Json& places = fields["hosts"] = Json::array();  // ranks of one host stand side by side
  for (const std::string& host : hosts) {
    if (places.empty() || places.back()[0] != host) places.push_back(Json::array({host, 0}));
    places.back()[1] = places.back()[1].get<int>() + 1;
  }
  m_sums.clear();
  m_steps = 0;
  return fields;
}

}  // namespace loom
