#pragma once
// What stands in one column of the dataset: kind and shape, range, mean and deviation, histogram, the balance of its
// classes, of a vector each of its numbers, and the Input of the network that it feeds.
#include <QStringList>
#include <QWidget>
#include <optional>

#include "engine/data/dataset.h"
#include "engine/data/stats.h"

namespace loom {

class ElementTable;

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
  // The numbers of a vector; null where it is none, or is not measured yet.
  ElementTable* elements() const { return m_elements; }

 Q_SIGNALS:
  void elementChosen(int element);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QStringList factLines() const;
  bool showsHistogram() const;
  void placeElements();
  QString elementName(std::size_t element) const;
  int barsTop() const;
  int barsShown() const;

  Variable m_variable;
  std::optional<VariableStats> m_stats;
  ElementTable* m_elements = nullptr;
  QStringList m_classNames;
  QString m_feeds, m_fault;
};

}  // namespace loom
