#pragma once
// Curves of the run store as a chart wants them. What is in memory answers at once; what would have to be read from the
// database is read beside the window's thread: until then a chart draws what it drew before, and is told when there is
// more.
#include <QString>
#include <memory>
#include <string>

#include "app/store_question.h"
#include "launcher/store/run_store.h"
#include "widgets/chart/series_source.h"

namespace loom {

inline Axis toAxis(XUnit unit) {
  return static_cast<Axis>(unit);
}

class StoreSeries : public SeriesSource {
 public:
  StoreSeries(const RunStore& store, QString run, std::string series);
  ChartColumns columns(XUnit unit, double from, double to, int width) const override;
  std::function<ChartColumns()> reader(XUnit unit) const override;

 private:
  struct Asked {
    XUnit unit = XUnit::step;
    double from = 0, to = 0;
    int width = 0;
    bool operator==(const Asked&) const = default;
  };
  static ChartColumns answer(const RunData& curves, const std::string& series, const Asked& asked);

  const RunStore& m_store;
  QString m_run;
  std::string m_series;
  mutable StoreQuestion<Asked, ChartColumns> m_question;
};

// A series less others of one run that have the same steps: what of a step's time was no waiting.
class StoreDifference : public SeriesSource {
 public:
  StoreDifference(const RunStore& store, const QString& run, std::string whole, const std::vector<std::string>& parts);
  ChartColumns columns(XUnit unit, double from, double to, int width) const override;
  std::function<ChartColumns()> reader(XUnit unit) const override;
  void whenMore(std::function<void()> told) const override;

 private:
  StoreSeries m_whole;
  std::vector<std::unique_ptr<StoreSeries>> m_parts;
};

}  // namespace loom
