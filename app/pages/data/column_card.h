#pragma once
// What stands in one column of the dataset: kind and shape, range, mean and deviation, the balance of its classes, and the
// Input of the network that it feeds.
#include <QStringList>
#include <QWidget>

#include <optional>

#include "engine/data/dataset.h"
#include "engine/data/stats.h"

namespace loom {

class ColumnCard : public QWidget {
  Q_OBJECT

 public:
  explicit ColumnCard(Variable variable, QWidget* parent = nullptr);

  const Variable& variable() const { return m_variable; }
  void setStats(const VariableStats& stats);
  void setClassNames(const QStringList& names);
  // The Input that takes this column; a fault where it does not fit.
  void setFeeds(const QString& input, const QString& fault = {});

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QStringList factLines() const;
  std::size_t elementsShown() const;
  QString elementName(std::size_t element) const;
  int barsTop() const;
  int barsShown() const;

  Variable m_variable;
  std::optional<VariableStats> m_stats;
  QStringList m_classNames;
  QString m_feeds, m_fault;
};

}  // namespace loom
