#pragma once
// A unit opened in place: its drawing in a card beside the use, with the arguments of that use as chips. The drawing in
// it is a canvas of its own: what is changed there is changed in the unit, wherever it is used. Lies over the canvas,
// does not scale with it.
#include <QWidget>
#include <string>

#include "widgets/canvas/network_scene.h"

class QLabel;

namespace loom {

class ArgumentChips;
class ElidedLabel;
class NetworkView;

class UnitView : public QWidget {
  Q_OBJECT
 public:
  explicit UnitView(NetworkView& outer);
  ~UnitView() override;

  void open(const std::string& use);  // a node of the outer drawing that uses a unit
  void close();
  bool isOpen() const { return isVisible(); }
  const std::string& use() const { return m_use; }
  NetworkScene& scene() const { return *m_scene; }
  NetworkView& view() const { return *m_view; }
  ArgumentChips& chips() const { return *m_chips; }
  QRect card() const;  // without its shadow, on the canvas
  // Beside the use's card, inside the canvas: called when the canvas moves.
  void place();

 Q_SIGNALS:
  void closed();
  void tabWanted(const QString& unit);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override { event->accept(); }  // not through to the canvas below
  void wheelEvent(QWheelEvent* event) override { event->accept(); }

 private:
  void refresh();
  QSize wantedSize() const;
  const Node* node() const;

  NetworkView& m_outer;
  std::string m_use, m_unit;
  NetworkScene* m_scene;
  NetworkView* m_view;
  ArgumentChips* m_chips;
  QLabel* m_name;
  ElidedLabel* m_words;
  QWidget* m_head;
};

}  // namespace loom
