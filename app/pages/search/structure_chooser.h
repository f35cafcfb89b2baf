#pragma once
// What of the drawing is searched, chosen from lists: widths of layers, how often a unit or a chain is repeated, which
// layer a node is. Answers a line as `--over` writes it.
#include <QWidget>
#include <vector>

#include "engine/search/space.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QListWidgetItem;

namespace loom {

class Button;
class SearchField;
class SegmentedControl;

class StructureChooser : public QWidget {
  Q_OBJECT

 public:
  explicit StructureChooser(QWidget* parent = nullptr);
  void setProject(const Json& project, const std::vector<Searchable>& known);

 Q_SIGNALS:
  void chosen(const QString& text);  // "conv1,conv2.channels=log:8..64"
  void closed();

 private:
  enum Kind { width, depth, layer };
  // What can be ticked: a whole number of a layer, a unit, a group or a layer of a chain, a node.
  struct Item {
    QString key, words;  // key as in `--over`, for a layer of a chain with ".repeat" behind it
    double low = 1, high = 4;
    bool isAlone = false;  // a group is repeated by itself
    std::vector<std::string> layers;
  };
  std::vector<Item> itemsOf(Kind kind) const;
  void refreshItems();
  void filter(const QString& text);
  void refreshChoice();
  std::vector<Item> ticked() const;
  QString text() const;  // empty while nothing can be added
  void add();

  Json m_project;
  std::vector<Searchable> m_known;
  std::vector<Item> m_items;
  SegmentedControl* m_kind;
  SearchField* m_filter;
  QListWidget *m_list, *m_layers;
  QWidget* m_range;
  QLineEdit *m_low, *m_high;
  QLabel* m_hint;
  Button* m_add;
};

}  // namespace loom
