#pragma once
// The bar over the canvas: one tab a network, then undo, redo, what the cards' bars show, arrange, and the rest in a
// menu.
#include <QWidget>
#include <string>

#include "widgets/canvas/card_content.h"

class QHBoxLayout;
class QLineEdit;
class QMenu;
class QTabBar;

namespace loom {

class Button;
class Commands;
class NetworkScene;

class NetworkBar : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkBar(NetworkScene& scene, QWidget* parent = nullptr);

  QTabBar& tabs() const { return *m_tabs; }
  void setNarrow(bool narrow);  // tools without words; buttons for palette and inspector
  void renameTab(int index);
  int tabMeant(const QJsonObject& arguments) const;  // of the drawing that a command names, else the one in front
  QMenu& moreMenu() const { return *m_more; }
  void addCommands(Commands& commands);  // of the tabs; their menu is made of them

 Q_SIGNALS:
  void arrangeRequested();
  void layersRequested();
  void inspectorRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refreshTabs();
  void refreshTools();
  void addNetwork();
  void finishRename(bool keep);
  void setCost(CostKind kind);

  NetworkScene& m_scene;
  QTabBar* m_tabs;
  QLineEdit* m_rename;
  int m_renaming = -1;
  Button *m_undo, *m_redo, *m_cost, *m_arrange, *m_layers, *m_inspector, *m_moreButton;
  QMenu* m_more;
  bool m_narrow = false;
};

}  // namespace loom
