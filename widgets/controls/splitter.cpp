#include "widgets/controls/splitter.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSplitterHandle>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kGrip = 7;
constexpr int kKeyStep = 16;

class Handle : public QSplitterHandle {
 public:
  Handle(Qt::Orientation orientation, Splitter* splitter) : QSplitterHandle(orientation, splitter) {
    setAttribute(Qt::WA_Hover);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(QObject::tr("Divider"));
    setProperty("focusRadius", -1);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::of(this);
    QPainter painter(this);
    const bool seen = underMouse() || hasFocus();
    const int width = seen ? 2 : 1;
    const QColor colour = theme.colour(hasFocus() ? Colour::focus : seen ? Colour::accent : Colour::line);
    if (orientation() == Qt::Horizontal)
      painter.fillRect(this->width() / 2, 0, width, height(), colour);
    else
      painter.fillRect(0, height() / 2, this->width(), width, colour);
  }

  void mouseDoubleClickEvent(QMouseEvent*) override {
    const auto* owner = static_cast<Splitter*>(splitter());
    if (!owner->initialSizes().isEmpty()) splitter()->setSizes(owner->initialSizes());
  }

  void keyPressEvent(QKeyEvent* event) override {
    const bool horizontal = orientation() == Qt::Horizontal;
    const int at = horizontal ? x() : y();
    if (event->key() == (horizontal ? Qt::Key_Left : Qt::Key_Up))
      moveSplitter(at - kKeyStep);
    else if (event->key() == (horizontal ? Qt::Key_Right : Qt::Key_Down))
      moveSplitter(at + kKeyStep);
    else
      QSplitterHandle::keyPressEvent(event);
  }
};

}  // namespace

Splitter::Splitter(Qt::Orientation orientation, QWidget* parent) : QSplitter(orientation, parent) {
  setHandleWidth(kGrip);
  setChildrenCollapsible(false);
}

QSplitterHandle* Splitter::createHandle() {
  return new Handle(orientation(), this);
}

void Splitter::setInitialSizes(const QList<int>& sizes) {
  m_initial = sizes;
  setSizes(sizes);
}

}  // namespace loom
