#pragma once
// A column before something is done to it and after: both histograms on their own scales, and the cells of a few rows
// side by side. Is given values and asks nobody.
#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <vector>

namespace loom {

struct ColumnState {
  QString name;  // "hours"
  bool number = false;
  double low = 0, mean = 0, high = 0, deviation = 0;
  std::vector<std::int64_t> histogram;
  QStringList cells;  // of the rows, in their order; empty = missing
};
struct ColumnChangeShown {
  std::vector<ColumnState> before, after;  // several where one became several, none where it is gone
  std::vector<std::int64_t> lines;         // of the rows
  std::vector<bool> left;                  // rows that are left out
  QString fault;                           // why there is no after
  QString note;                            // what there is to say instead
};

class ColumnChange : public QWidget {
  Q_OBJECT

 public:
  explicit ColumnChange(QWidget* parent = nullptr);
  void setShown(ColumnChangeShown shown);
  const ColumnChangeShown& shown() const { return m_shown; }

  QSize sizeHint() const override { return {520, 110}; }
  QSize minimumSizeHint() const override { return {240, 54}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int paintState(QPainter& painter, int x, const std::vector<ColumnState>& states, bool after) const;
  void paintRows(QPainter& painter, const QRect& room) const;
  ColumnChangeShown m_shown;
};

}  // namespace loom
