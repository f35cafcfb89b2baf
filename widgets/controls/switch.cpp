#include "widgets/controls/switch.h"

#include <QEvent>
#include <QPainter>

#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr double kWidth = 28;
constexpr double kHeight = 16;
constexpr int kTextGap = 10;
}  // namespace

Switch::Switch(Words words, QWidget* parent) : QAbstractButton(parent), m_words(words) {
  init();
}

Switch::Switch(const QString& label, QWidget* parent) : QAbstractButton(parent), m_words(Words::none) {
  setText(label);
  init();
}

void Switch::init() {
  setCheckable(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  setAttribute(Qt::WA_Hover);
  connect(this, &QAbstractButton::toggled, this, [this](bool on) {
    m_knob.stop();
    m_knob.setStartValue(on ? 0.0 : 1.0);
    m_knob.setEndValue(on ? 1.0 : 0.0);
    m_knob.setDuration(isVisible() ? Theme::of(this).duration(Motion::hover) : 0);
    m_knob.start();
  });
  connect(&m_knob, &QVariantAnimation::valueChanged, this, [this] { update(); });
}

QString Switch::words() const {
  if (!text().isEmpty()) return text();
  return m_words == Words::none ? QString() : m_mixed ? tr("mixed") : isChecked() ? tr("On") : tr("Off");
}

void Switch::setMixed(bool mixed) {
  if (m_mixed == mixed) return;
  m_mixed = mixed;
  m_knob.stop();
  setAccessibleDescription(mixed ? tr("mixed") : QString());
  updateGeometry();
  update();
}

void Switch::nextCheckState() {
  if (!m_mixed) return QAbstractButton::nextCheckState();
  setMixed(false);
  setChecked(true);
}

QSize Switch::sizeHint() const {
  const QFontMetrics metrics(Theme::of(this).font(FontRole::body));
  int width = static_cast<int>(kWidth);
  if (!text().isEmpty())
    width += kTextGap + metrics.horizontalAdvance(text());
  else if (m_words == Words::onOff)
    width += kTextGap + std::max(metrics.horizontalAdvance(tr("On")), metrics.horizontalAdvance(tr("Off")));
  if (m_mixed && text().isEmpty() && m_words == Words::onOff)
    width = std::max(width, static_cast<int>(kWidth) + kTextGap + metrics.horizontalAdvance(tr("mixed")));
  return {width, std::max(24, metrics.height())};
}

void Switch::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF track(0, (height() - kHeight) / 2.0, kWidth, kHeight);
  const Colour ground = !isEnabled()  ? Colour::disabled
                        : m_mixed     ? Colour::control
                        : isChecked() ? (underMouse() ? Colour::accentHover : Colour::accent)
                                      : Colour::control;
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(ground));
  painter.drawRoundedRect(track, kHeight / 2, kHeight / 2);
  const double at = m_mixed                                        ? 0.5
                    : m_knob.state() == QVariantAnimation::Running ? m_knob.currentValue().toDouble()
                    : isChecked()                                  ? 1.0
                                                                   : 0.0;
  painter.setBrush(theme.colour(Colour::onAccent));
  painter.drawEllipse(QPointF(track.left() + kHeight / 2 + at * (kWidth - kHeight), track.center().y()), 6, 6);
  if (const QString label = words(); !label.isEmpty()) {
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(isEnabled() ? Colour::text2 : Colour::disabled));
    painter.drawText(QRectF(kWidth + kTextGap, 0, width() - kWidth - kTextGap, height()),
                     Qt::AlignVCenter | Qt::AlignLeft, label);
  }
}

}  // namespace loom
