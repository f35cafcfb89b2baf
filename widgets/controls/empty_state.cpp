#include "widgets/controls/empty_state.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QVBoxLayout>
#include <cmath>

#include "widgets/controls/button.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// Line figures over 220 x 120.
class FigureView : public QWidget {
 public:
  FigureView(Figure figure, QWidget* parent) : QWidget(parent), m_figure(figure) { setFixedSize(220, 120); }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::of(this);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    m_line = QPen(theme.colour(Colour::control), 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    m_faint = QPen(theme.colour(Colour::lineStrong), 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    m_accent = QPen(theme.colour(Colour::accentText), 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    switch (m_figure) {
      case Figure::chain:
        chain(painter);
        break;
      case Figure::curves:
        curves(painter);
        break;
      case Figure::table:
        table(painter);
        break;
      case Figure::samples:
        samples(painter);
        break;
      case Figure::hosts:
        hosts(painter);
        break;
    }
  }

 private:
  void chain(QPainter& painter) {
    for (int i = 0; i < 3; ++i) {
      const QRectF node(50, 6 + i * 40, 120, 26);
      painter.setPen(i == 1 ? m_accent : m_line);
      painter.drawRoundedRect(node, 6, 6);
      painter.drawLine(QPointF(node.left() + 22, node.top()), QPointF(node.left() + 22, node.bottom()));
      painter.setPen(m_faint);
      painter.drawLine(QPointF(node.left() + 32, node.center().y()),
                       QPointF(node.left() + (i == 1 ? 84 : 68), node.center().y()));
      if (i < 2) {
        painter.setPen(m_line);
        painter.drawLine(QPointF(110, node.bottom() + 1), QPointF(110, node.bottom() + 13));
      }
    }
  }

  void axes(QPainter& painter) {
    painter.setPen(m_faint);
    for (int i = 1; i < 4; ++i) painter.drawLine(QPointF(24, 100 - i * 24), QPointF(204, 100 - i * 24));
    painter.setPen(m_line);
    painter.drawPolyline(QPolygonF{{24, 10}, {24, 100}, {204, 100}});
  }

  void curves(QPainter& painter) {
    axes(painter);
    QPainterPath loss(QPointF(28, 18)), accuracy(QPointF(28, 94));
    loss.cubicTo(QPointF(56, 76), QPointF(96, 86), QPointF(150, 90));
    accuracy.cubicTo(QPointF(50, 40), QPointF(96, 32), QPointF(150, 28));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(m_accent);
    painter.drawPath(loss);
    painter.setPen(m_line);
    painter.drawPath(accuracy);
    QPen ahead = m_faint;
    ahead.setDashPattern({3, 3});
    painter.setPen(ahead);
    painter.drawLine(QPointF(150, 14), QPointF(150, 100));
  }

  void table(QPainter& painter) {
    painter.setPen(m_line);
    painter.drawRoundedRect(QRectF(16, 10, 188, 100), 6, 6);
    painter.drawLine(QPointF(16, 34), QPointF(204, 34));
    for (int row = 0; row < 3; ++row) {
      const double y = 46 + row * 24;
      painter.setPen(row == 0 ? m_accent : m_line);
      painter.drawRoundedRect(QRectF(28, y - 4, 18, 9), 2, 2);
      painter.setPen(m_faint);
      painter.drawLine(QPointF(58, y), QPointF(104 - row * 8, y));
      painter.drawLine(QPointF(126, y), QPointF(150, y));
      painter.drawLine(QPointF(166, y), QPointF(190, y));
    }
  }

  void samples(QPainter& painter) {
    for (int i = 0; i < 6; ++i) {
      const QRectF tile(30 + (i % 3) * 56, 8 + (i / 3) * 56, 48, 48);
      painter.setPen(i == 1 ? m_accent : m_line);
      painter.drawRoundedRect(tile, 4, 4);
      painter.setPen(m_faint);
      painter.drawPolyline(QPolygonF{tile.bottomLeft() + QPointF(6, -10), tile.center() + QPointF(-4, -2),
                                     tile.center() + QPointF(4, 8), tile.center() + QPointF(10, 2),
                                     tile.bottomRight() + QPointF(-6, -10)});
      painter.drawEllipse(tile.topRight() + QPointF(-13, 13), 3, 3);
    }
  }

  void hosts(QPainter& painter) {
    for (int i = 0; i < 3; ++i) {
      const QRectF host(40, 8 + i * 36, 140, 28);
      painter.setPen(i == 0 ? m_accent : m_line);
      painter.drawRoundedRect(host, 5, 5);
      painter.drawEllipse(QPointF(host.left() + 14, host.center().y()), 2.5, 2.5);
      painter.setPen(m_faint);
      painter.drawLine(QPointF(host.left() + 30, host.center().y()),
                       QPointF(host.left() + 96 - i * 14, host.center().y()));
    }
  }

  Figure m_figure;
  QPen m_line, m_faint, m_accent;
};

}  // namespace

EmptyState::EmptyState(Figure figure, const QString& sentence, QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 24, 24, 24);
  column->setSpacing(0);
  column->addStretch();
  column->addWidget(new FigureView(figure, this), 0, Qt::AlignHCenter);
  column->addSpacing(16);
  m_sentence = new QLabel(sentence, this);
  m_sentence->setAlignment(Qt::AlignCenter);
  m_sentence->setWordWrap(true);
  m_sentence->setMinimumWidth(200);
  column->addWidget(m_sentence);  // an alignment here would cut a second line off
  column->addSpacing(14);
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  m_action = new Button(QString(), ButtonKind::outlined, this);
  m_link = new Button(QString(), ButtonKind::link, this);
  row->addStretch();
  row->addWidget(m_action);
  row->addWidget(m_link);
  row->addStretch();
  column->addLayout(row);
  column->addStretch();
  m_action->hide();
  m_link->hide();
  connect(m_action, &QPushButton::clicked, this, &EmptyState::actionTriggered);
  connect(m_link, &QPushButton::clicked, this, &EmptyState::linkTriggered);
}

void EmptyState::setAction(const QString& iconName, const QString& text) {
  m_action->setText(text);
  m_action->setIconName(iconName);
  m_action->setVisible(!text.isEmpty());
}

void EmptyState::setLink(const QString& text) {
  m_link->setText(text);
  m_link->setVisible(!text.isEmpty());
}

void EmptyState::setSentence(const QString& sentence) {
  m_sentence->setText(sentence);
}

}  // namespace loom
