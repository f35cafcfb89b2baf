#pragma once
// All layers by category: drag one to the canvas, double click or Enter adds it after what is selected there. Built
// from the catalogue alone: a new layer stands here by itself.
#include <QListWidget>
#include <QWidget>
#include <set>
#include <string>

#include "engine/catalogue/entry.h"

namespace loom {

class SearchField;

// A layer of the person's own, as the list shows it.
struct OwnRow {
  Entry entry;
  QString fault;         // why it cannot be used; empty where it can
  bool present = false;  // among the project's units too: a search finds it there
  QString note;          // quiet, at the right: "update"
};

// The list itself: headings with "6 more", rows with icons.
class LayerList : public QListWidget {
  Q_OBJECT
 public:
  explicit LayerList(QWidget* parent = nullptr);
  void fill(const QString& query);
  void setUnits(std::vector<Entry> units);  // of the project, behind the layers; from the next fill()
  void setOwn(std::vector<OwnRow> own);     // behind the units; from the next fill()
  int found() const { return m_found; }
  std::string currentLayer() const;

 Q_SIGNALS:
  void chosen(const QString& layer);
  void typed(const QString& text);  // a letter while the list has the focus: it belongs in the search field
  void leftUpwards();
  void menuWanted(const QString& layer, QPoint global);

 protected:
  QMimeData* mimeData(const QList<QListWidgetItem*>& items) const override;
  void startDrag(Qt::DropActions actions) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void addHeading(const std::string& category, int hidden);
  void toggle(const QString& category);
  std::set<QString> m_open;  // categories that show all
  std::vector<Entry> m_units;
  std::vector<OwnRow> m_own;
  QString m_query;
  int m_found = 0;
};

class LayerPalette : public QWidget {
  Q_OBJECT
 public:
  explicit LayerPalette(QWidget* parent = nullptr);
  void focusSearch();
  // The project's units, as the catalogue would describe them.
  void setUnits(std::vector<Entry> units);
  void setOwn(std::vector<OwnRow> own);
  LayerList& list() const { return *m_list; }
  SearchField& search() const { return *m_search; }

 Q_SIGNALS:
  void layerChosen(const QString& layer);  // double click, Enter
  void leaving();                          // Esc: the keyboard goes back to the canvas

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refill();
  SearchField* m_search;
  LayerList* m_list;
};

QString categoryTitle(const std::string& category);

}  // namespace loom
