#pragma once
// Curves of the run store as a chart wants them.
#include <QString>
#include <string>

#include "launcher/store/run_store.h"
#include "widgets/chart/series_source.h"

namespace loom {

inline Axis toAxis(XUnit unit) { return static_cast<Axis>(unit); }

class StoreSeries : public SeriesSource {
 public:
  StoreSeries(const RunStore& store, QString run, std::string series) : m_store(store), m_run(std::move(run)), m_series(std::move(series)) {}
  ChartColumns columns(XUnit unit, double from, double to, int width) const override;
  std::optional<std::pair<double, double>> extent(XUnit unit) const override;

 private:
  const RunStore& m_store;
  QString m_run;
  std::string m_series;
};

// The difference of two series of one run that have the same steps: what of a step's time was not waiting for data.
class StoreDifference : public SeriesSource {
 public:
  StoreDifference(const RunStore& store, const QString& run, std::string whole, std::string part)
      : m_whole(store, run, std::move(whole)), m_part(store, run, std::move(part)) {}
  ChartColumns columns(XUnit unit, double from, double to, int width) const override;
  std::optional<std::pair<double, double>> extent(XUnit unit) const override { return m_whole.extent(unit); }

 private:
  StoreSeries m_whole, m_part;
};

}  // namespace loom
