#include "app/shell/message_bar.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/controls/button.h"
#include "widgets/controls/icon_label.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

class Bar : public QWidget {
 public:
  Bar(MessageBars::Kind kind, QWidget* parent) : QWidget(parent), m_kind(kind) {}
  MessageBars::Kind kind() const { return m_kind; }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::of(this);
    QPainter painter(this);
    painter.fillRect(rect(), theme.colour(m_kind == MessageBars::Kind::error     ? Colour::errorSoft
                                          : m_kind == MessageBars::Kind::warning ? Colour::warningSoft
                                                                                 : Colour::accentSoft));
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.colour(Colour::line));
  }

 private:
  MessageBars::Kind m_kind;
};

}  // namespace

MessageBars::MessageBars(QWidget* parent) : QFrame(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  QFrame::hide();
}

QWidget* MessageBars::find(const QString& key) const {
  return findChild<QWidget*>("message-" + key, Qt::FindDirectChildrenOnly);
}

QString MessageBars::text(const QString& key) const {
  const QWidget* const bar = find(key);
  const auto* label = bar ? bar->findChild<QLabel*>("text") : nullptr;
  return label ? label->text() : QString();
}

void MessageBars::show(const QString& key, Kind kind, const QString& text, const QList<Remedy>& remedies) {
  hide(key);
  auto* bar = new Bar(kind, this);
  bar->setObjectName("message-" + key);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(20, 6, 12, 6);
  row->setSpacing(10);
  row->addWidget(kind == Kind::information ? new IconLabel("info", Colour::accentText)
                                           : new IconLabel(kind == Kind::error ? "status-failed" : "status-warning",
                                                           kind == Kind::error ? Colour::error : Colour::warning, 14));
  auto* label = new QLabel(text);
  label->setObjectName("text");
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(label, 1);
  auto* more = new Button(QString(), ButtonKind::link);
  more->setObjectName("more-messages");
  more->hide();
  connect(more, &Button::clicked, this, [this] {
    m_all = !m_all;
    arrange();
  });
  row->addWidget(more);
  for (const Remedy& remedy : remedies) {
    auto* button = new Button(remedy.text, ButtonKind::outlined);
    connect(button, &Button::clicked, this, [this, key, act = remedy.act] {
      hide(key);
      act();
    });
    row->addWidget(button);
  }
  auto* close = iconButton("close", tr("Close this message"));
  close->setFocusPolicy(
      Qt::TabFocus);  // a click leaves the keys where they are: else they go to the page's first field
  connect(close, &Button::clicked, this, [this, key] {
    hide(key);
    Q_EMIT closed(key);
  });
  row->addWidget(close);
  static_cast<QVBoxLayout*>(layout())->insertWidget(0, bar);
  arrange();
  QFrame::show();
}

void MessageBars::arrange() {
  QList<Bar*> bars;  // the newest first
  for (int i = 0; i < layout()->count(); ++i)
    if (auto* const bar = dynamic_cast<Bar*>(layout()->itemAt(i)->widget())) bars << bar;
  const auto badness = [](const Bar* bar) {
    return bar->kind() == Kind::error ? 0 : bar->kind() == Kind::warning ? 1 : 2;
  };
  std::stable_sort(bars.begin(), bars.end(), [&](const Bar* a, const Bar* b) { return badness(a) < badness(b); });
  if (bars.size() < 2) m_all = false;
  for (qsizetype i = 0; i < bars.size(); ++i) {
    static_cast<QVBoxLayout*>(layout())->removeWidget(bars[i]);
    layout()->addWidget(bars[i]);
    auto* const more = bars[i]->findChild<Button*>("more-messages");
    more->setText(m_all ? tr("Fewer") : tr("%1 more").arg(bars.size() - 1));
    more->setVisible(i == 0 && bars.size() > 1);
    bars[i]->setVisible(i == 0 || m_all);
  }
}

void MessageBars::hide(const QString& key) {
  if (QWidget* const bar = find(key)) {
    const bool held = QApplication::focusWidget() && bar->isAncestorOf(QApplication::focusWidget());
    bar->setObjectName({});
    layout()->removeWidget(bar);
    bar->hide();
    bar->deleteLater();
    if (held) Q_EMIT leftWithKeyboard();
  }
  arrange();
  bool any = false;
  for (const QObject* each : children()) any = any || each->objectName().startsWith("message-");
  if (!any) QFrame::hide();
}

}  // namespace loom
