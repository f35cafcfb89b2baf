#include "widgets/controls/notice.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>

#include "widgets/controls/button.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr int kShownMs = 8000;
constexpr int kMargin = 16;
}  // namespace

NoticeArea::NoticeArea(QWidget* host, int bottom) : QWidget(host), m_host(host), m_bottom(bottom) {
  const int shadow = shadowMargin(Elevation::menu);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(shadow + 14, shadow + 6, shadow + 6, shadow + 6);
  row->setSpacing(10);
  m_sentence = new QLabel(this);
  m_sentence->setTextFormat(Qt::PlainText);
  m_action = new Button(QString(), ButtonKind::link, this);
  m_close = iconButton(QStringLiteral("close"), tr("Dismiss"), this);
  row->addWidget(m_sentence);
  row->addWidget(m_action);
  row->addWidget(m_close);
  m_clock.setSingleShot(true);
  m_clock.setInterval(kShownMs);
  connect(&m_clock, &QTimer::timeout, this, &NoticeArea::dismiss);
  connect(m_close, &QPushButton::clicked, this, &NoticeArea::dismiss);
  connect(m_action, &QPushButton::clicked, this, [this] {
    const auto run = m_run;
    dismiss();
    if (run) run();
  });
  host->installEventFilter(this);
  hide();
}

void NoticeArea::show(const QString& sentence, const QString& action, std::function<void()> run, QObject* context) {
  disconnect(m_context);
  m_context = context ? connect(context, &QObject::destroyed, this, &NoticeArea::dismiss) : QMetaObject::Connection();
  m_sentence->setText(sentence);
  setAccessibleName(sentence);
  m_action->setText(action);
  m_action->setVisible(!action.isEmpty());
  m_run = std::move(run);
  m_clock.start();
  QWidget::show();
  place();
  raise();
  Q_EMIT changed();
}

void NoticeArea::dismiss() {
  disconnect(m_context);
  m_clock.stop();
  m_run = {};
  hide();
  Q_EMIT changed();
}

bool NoticeArea::offers(const QString& action) const {
  return !isHidden() && m_run && m_action->text() == action;
}

QString NoticeArea::sentence() const {
  return m_sentence->text();
}

void NoticeArea::place() {
  layout()->activate();
  const int shadow = shadowMargin(Elevation::menu);
  resize(sizeHint().boundedTo(QSize(m_host->width(), 200)));
  move(m_host->width() - width() - kMargin + shadow, m_host->height() - m_bottom - height() - kMargin + shadow);
}

bool NoticeArea::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_host && event->type() == QEvent::Resize && isVisible()) place();
  if (watched == m_host && event->type() == QEvent::KeyPress && isVisible() &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    dismiss();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void NoticeArea::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const int shadow = shadowMargin(Elevation::menu);
  paintCard(painter, QRectF(rect()).adjusted(shadow, shadow, -shadow, -shadow), Theme::of(this).radius(Radius::card),
            Elevation::menu);
}

void NoticeArea::enterEvent(QEnterEvent*) {
  m_clock.stop();
}

void NoticeArea::leaveEvent(QEvent*) {
  m_clock.start();
}

}  // namespace loom
