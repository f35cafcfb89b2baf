#pragma once
// What Ctrl+K finds, under the field in the top bar: commands, pages, runs, projects, and what the pages know (layers,
// nodes, settings, data). Grouped, ten rows; Enter acts.
#include <QFrame>
#include <functional>

#include "app/page.h"

class QLineEdit;

namespace loom {

class SearchPanel : public QWidget {
  Q_OBJECT

 public:
  // Asks `find` for hits at each keystroke. `field` keeps the keyboard; the panel is drawn over the window.
  SearchPanel(QLineEdit& field, std::function<QList<SearchHit>(const QString&)> find, QWidget* window);

  const QList<SearchHit>& hits() const { return m_hits; }
  QRect rowRect(int row) const;
  void close();
  QRect cardRect() const;  // without the shadow

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refresh();
  void act(int row);
  int rowAt(const QPoint& place) const;

  QLineEdit& m_field;
  std::function<QList<SearchHit>(const QString&)> m_find;
  QList<SearchHit> m_hits;
  int m_current = 0;
};

// How well `text` answers the query: 0 not at all; higher for a match at the beginning, at a word, in order.
int matchScore(const QString& text, const QString& query);

}  // namespace loom
