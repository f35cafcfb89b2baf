#pragma once
// The columns of a table, one a row: kind, name, histogram or class bar, minimum, mean, maximum, how many cells are
// missing. A click chooses one, F2 or a double click renames it in place; Delete and the right button are told. A head
// sorts, a text leaves those that contain it. Knows an analysis and marks, no project.
#include <QListView>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/columns/analysis.h"

namespace loom {

class ColumnListModel;

// Bars side by side over the whole of `place`, the highest as high as it; what was met at all is seen.
void paintHistogram(QPainter& painter, const QRectF& place, const std::vector<std::int64_t>& counts,
                    const QColor& colour);
// A number of a column, or a date where it holds dates (seconds since 1970).
QString columnValue(const ColumnFacts& column, double value);
// Of a vector's element what its header says behind the colon, else the name.
QString shownName(const ColumnFacts& column);

// What a column is used for; told to the list by whoever knows.
struct ColumnMark {
  QString name;  // another one that it is called by; empty = its own
  bool target = false, leftOut = false;
  QString use;  // in words, "feeds x"
  bool operator==(const ColumnMark&) const = default;
};

class ColumnList : public QWidget {
  Q_OBJECT

 public:
  explicit ColumnList(QWidget* parent = nullptr);

  void setFacts(std::shared_ptr<const TableFacts> facts);  // null = none
  void setMarks(std::map<std::string, ColumnMark> marks);
  void setFilter(const QString& text);
  const std::string& chosen() const { return m_chosen; }
  void setChosen(const std::string& column);  // empty = none; told to nobody
  QListView& view() { return *m_view; }
  int rowOf(const std::string& column) const;  // -1 = not shown
  // "flow: number, 6.9 to 60, mean 39, 137 missing"
  QString facts(int row) const;
  enum class Order { file, name, range, missing };
  void setOrder(Order order);
  Order order() const { return m_order; }

 Q_SIGNALS:
  void columnChosen(const QString& column);
  void renamed(const QString& column, const QString& to);
  void leaveOutWanted(const QString& column);
  void menuWanted(const QString& column, const QPoint& global);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  friend class ColumnListHead;
  friend class ColumnListModel;
  friend class ColumnListDelegate;
  // Where the parts of a row stand; min, mean and max only where there is room.
  struct Places {
    QRect chip, name, values, numbers[3], missing;
    bool roomy = false;
  };
  Places placesIn(const QRect& row) const;
  void arrange();

  ColumnListModel* m_model;
  QWidget* m_head;
  QListView* m_view;
  std::string m_chosen;
  Order m_order = Order::file;
};

}  // namespace loom
