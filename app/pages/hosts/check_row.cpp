#include "app/pages/hosts/check_row.h"

#include <QApplication>
#include <QClipboard>
#include <QFrame>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QTimer>

#include "app/run_display.h"
#include "widgets/controls/button.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/status.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

using Line = CheckLine::Status;
constexpr int kSign = 12, kText = 40, kName = 142, kTime = 62, kHeight = 30, kCopiedMs = 1500;

Status signOf(Line status) {
  return status == Line::well ? Status::ok : status == Line::doubtful ? Status::warning : Status::failed;
}

QLabel* words(Qt::TextInteractionFlags flags = Qt::NoTextInteraction) {
  auto* label = new QLabel;
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(flags);
  return label;
}

}  // namespace

void copyFrom(Button& button, const QString& text) {
  QApplication::clipboard()->setText(text);
  button.setText(QObject::tr("Copied"));
  QTimer::singleShot(kCopiedMs, &button, [&button] { button.setText(QObject::tr("Copy")); });
}

CheckRow::CheckRow(QWidget* parent)
    : QWidget(parent),
      m_name(words()),
      m_finding(words(Qt::TextSelectableByMouse)),
      m_time(words()),
      m_why(words(Qt::TextSelectableByMouse)),
      m_remedy(words(Qt::TextSelectableByMouse)),
      m_command(new QFrame),
      m_copy(new Button("copy", tr("Copy"), ButtonKind::outlined)) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(kText, 6, 16, 6);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(8);
  keepWidth(m_name, kName);
  keepFont(m_name, FontRole::body, Face::words, 500);
  m_finding->setWordWrap(true);
  m_finding->setMinimumWidth(120);
  keepWidth(m_time, kTime);
  m_time->setAlignment(Qt::AlignRight | Qt::AlignTop);
  keepFont(m_time, FontRole::label, Face::numbers);
  m_why->setWordWrap(true);
  m_why->setProperty("kind", "field");
  grid->addWidget(m_name, 0, 0, Qt::AlignTop);
  grid->addWidget(m_finding, 0, 1);
  grid->addWidget(m_time, 0, 2, Qt::AlignTop);
  grid->addWidget(m_why, 1, 0, 1, 3);
  m_command->setProperty("kind", "card");
  auto* row = new QHBoxLayout(m_command);
  row->setContentsMargins(14, 5, 6, 5);
  row->setSpacing(10);
  keepFont(m_remedy, FontRole::label, Face::numbers);
  m_remedy->setWordWrap(true);
  m_copy->setObjectName("copy-remedy");
  row->addWidget(m_remedy, 1);
  row->addWidget(m_copy, 0, Qt::AlignTop);
  grid->addWidget(m_command, 2, 0, 1, 3);
  grid->setColumnStretch(1, 1);
  connect(m_copy, &Button::clicked, this, [this] { copyFrom(*m_copy, m_line.remedy); });
  setMinimumHeight(kHeight);
  // Wrapped text may need more lines than its hint says, never fewer.
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void CheckRow::setLine(const CheckLine& line, Form form) {
  m_line = line;
  m_form = form;
  const bool opened = open();
  m_name->setText(line.name);
  setStyleProperty(m_name, "kind", form == Form::known ? "" : "hint");
  keepFont(m_name, FontRole::body, Face::words, opened ? 600 : 500);
  m_finding->setText(form == Form::awaited ? QString() : line.finding);
  setStyleProperty(m_finding, "kind", form == Form::aged ? "hint" : opened ? "" : "field");
  m_time->setText(form == Form::known && line.milliseconds >= 0 ? formatDuration(line.milliseconds / 1000) : QString());
  m_time->setVisible(!m_time->text().isEmpty());
  setStyleProperty(m_time, "kind", "hint");
  m_why->setText(line.why);
  m_why->setVisible(opened && !line.why.isEmpty());
  m_remedy->setText(line.remedy);
  m_command->setVisible(opened && !line.remedy.isEmpty());
  m_copy->setAccessibleName(tr("Copy the remedy of %1").arg(line.name));
  layout()->setContentsMargins(kText, opened ? 8 : 6, 16, opened ? 14 : 6);
  setAccessibleName(form == Form::awaited
                        ? tr("%1: not known yet").arg(line.name)
                        : QStringLiteral("%1: %2, %3").arg(line.name, statusWord(signOf(line.status)), line.finding));
  updateGeometry();
  update();
}

void CheckRow::setLast(bool last) {
  if (m_last == last) return;
  m_last = last;
  update();
}

void CheckRow::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double middle = m_name->geometry().top() + m_name->sizeHint().height() / 2.0;
  if (open()) {
    const bool failed = m_line.status == Line::failed;
    painter.fillRect(rect(), theme.colour(failed ? Colour::errorSoft : Colour::warningSoft));
    painter.fillRect(QRect(0, 0, 3, height()), theme.colour(failed ? Colour::error : Colour::warning));
  }
  if (m_form == Form::awaited) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::hover));
    painter.drawRoundedRect(QRectF(kSign, middle - 7, 14, 14), 7, 7);
    painter.drawRoundedRect(QRectF(m_finding->x(), middle - 5, std::min(220, m_finding->width()), 10), 3, 3);
  } else {
    const Status status = signOf(m_line.status);
    const QColor colour = theme.colour(m_form == Form::aged ? Colour::text3 : statusColour(status));
    paintStatus(painter, status, QRectF(kSign, middle - 7, 14, 14), colour);
  }
  if (m_last) return;
  painter.setPen(theme.hairline(Colour::line));
  painter.drawLine(QPointF(open() ? 0 : kText, height() - 0.5), QPointF(width(), height() - 0.5));
}

}  // namespace loom
