#pragma once
// The bar beside several selected nodes: align six ways, distribute two.
#include <QWidget>
#include <vector>

namespace loom {

class Button;
class NetworkView;

class SelectionBar : public QWidget {
  Q_OBJECT
 public:
  explicit SelectionBar(NetworkView& view);
  void place();  // where no wire runs and no card stands, below the selection first
  const std::vector<Button*>& buttons() const {
    return m_buttons;
  }  // left, centre, right, top, middle, bottom, across, down

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  NetworkView& m_view;
  std::vector<Button*> m_buttons;
};

}  // namespace loom
