#pragma once
// The outline beside the canvas: search, the tree of everything, how much is selected. What is selected in the tree is
// told, what is selected elsewhere is shown; nothing here changes a drawing but names and groups, through the model.
#include <QPointer>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QWidget>
#include <string>
#include <vector>

#include "widgets/outline/outline_model.h"

class QLabel;

namespace loom {

class Button;
class Commands;
class OutlinePanel;
class SearchField;

// The tree: rows painted from the theme; keys and context menu are commands (outline_commands.h).
class OutlineTree : public QTreeView {
  Q_OBJECT
 public:
  explicit OutlineTree(OutlinePanel& panel);

 Q_SIGNALS:
  void goTo(const QModelIndex& index);  // double click
  void leaving();                       // Esc

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;
  bool event(QEvent* event) override;

 private:
  OutlinePanel& m_panel;
};

class OutlinePanel : public QWidget {
  Q_OBJECT
 public:
  explicit OutlinePanel(ProjectDocument& document, QWidget* parent = nullptr);

  OutlineModel& model() const { return *m_model; }
  OutlineTree& tree() const { return *m_tree; }
  SearchField& search() const { return *m_search; }
  // The registry around it; without one it has one of its own.
  void setCommands(Commands& commands);
  Commands& commands();
  void focusSearch();
  void focusTree();
  QModelIndex row(const std::string& drawing, const std::string& id) const;  // in the tree; opens what hides it

  // What is selected on the canvas of `drawing`: those rows, and the line below the tree.
  void showSelection(const std::string& drawing, const std::vector<std::string>& ids);

  // What its commands do, and whether there is something to do: with the row in hand, and with all groups.
  bool hasAnyRow() const { return m_model->rowCount() > 0; }
  bool hasRow() const { return m_tree->currentIndex().isValid(); }
  bool hasRowWithin() const;  // that can be opened
  bool isRowOpen() const { return m_tree->isExpanded(m_tree->currentIndex()); }
  bool isOfCanvas() const;  // what is selected here is what is selected on the canvas
  bool hasGroups() const;
  bool foldsAll() const { return m_foldsNext; }  // foldAll() folds; else it opens
  void goToRow();
  void toggleRow() { m_tree->setExpanded(m_tree->currentIndex(), !isRowOpen()); }
  void renameRow() {
    if (hasRow()) m_tree->edit(m_tree->currentIndex());
  }
  void foldAll();

 Q_SIGNALS:
  // A selection made here: nodes and groups of one drawing, as the tree's roots show it.
  void picked(const QString& drawing, const std::vector<std::string>& ids);
  void goTo(const QString& drawing, const QString& id);
  void leaving();
  void refused(const QString& why);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void tellSelection();
  void filter(const QString& words);
  ProjectDocument& m_document;
  OutlineModel* m_model;
  QSortFilterProxyModel* m_shown;
  SearchField* m_search;
  OutlineTree* m_tree;
  QLabel* m_count;
  Button* m_fold;
  QPointer<Commands> m_commands;
  std::string m_drawing;
  std::vector<std::string> m_ids;  // selected on the canvas
  bool m_telling = false, m_showing = false, m_foldsNext = true;
};

}  // namespace loom
