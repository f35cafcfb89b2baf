#include "widgets/evaluation/mask_tools.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "widgets/controls/flow_layout.h"
#include "widgets/controls/switch.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kClassSwatch = 12, kWordGap = 6, kOpacityWidth = 90, kLeastOpacity = 10;

}  // namespace

MaskClass::MaskClass(int of, const QString& word, QWidget* parent) : QAbstractButton(parent), m_of(of) {
  setText(word);
  setCheckable(true);
  setChecked(true);
  setCursor(Qt::PointingHandCursor);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(tr("Show %1").arg(word));
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

QSize MaskClass::sizeHint() const {
  const QFontMetrics metrics(Theme::of(this).font(FontRole::label));
  return {kClassSwatch + kWordGap + metrics.horizontalAdvance(text()) + 2, std::max(24, metrics.height() + 6)};
}

// Hidden ones are hollow, so that the colour is not the only sign.
void MaskClass::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor colour = maskColour(theme, m_of);
  painter.setPen(QPen(colour, 1.5));
  painter.setBrush(isChecked() ? QBrush(colour) : QBrush(Qt::NoBrush));
  painter.drawRoundedRect(QRectF(0.75, (height() - kClassSwatch) / 2.0 + 0.75, kClassSwatch - 1.5, kClassSwatch - 1.5),
                          3, 3);
  painter.setFont(theme.font(FontRole::label));
  painter.setPen(theme.colour(isChecked() ? Colour::text : Colour::text3));
  painter.drawText(rect().adjusted(kClassSwatch + kWordGap, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text());
}

MaskTools::MaskTools(QWidget* parent) : QWidget(parent) {
  setObjectName("mask-tools");
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(16, 8, 12, 8);
  column->setSpacing(4);
  auto* const tools = new QWidget;
  auto* const row = new FlowLayout(tools, 12);
  const auto add = [&](const char* name, const QString& label, bool on) {
    auto* const each = new Switch(label);
    each->setObjectName(QString::fromLatin1(name));
    each->setChecked(on);
    row->addWidget(each);
    connect(each, &Switch::toggled, this, &MaskTools::take);
    return each;
  };
  m_picture = add("mask-picture", tr("Picture"), m_look.picture);
  m_said = add("mask-prediction", tr("Prediction"), m_look.said);
  m_truth = add("mask-truth", tr("Truth"), m_look.truth);
  m_outline = add("mask-outline", tr("Outline of mistakes"), m_look.outline);
  auto* const opacity = new QWidget;
  opacity->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  auto* const beside = new QHBoxLayout(opacity);
  beside->setContentsMargins(0, 0, 0, 0);
  beside->setSpacing(8);
  m_words = makeLabel("label");
  m_words->setMinimumWidth(QFontMetrics(Theme::of(this).font(FontRole::label)).horizontalAdvance(tr("Opacity 100 %")));
  m_opacity = new QSlider(Qt::Horizontal);
  m_opacity->setObjectName("mask-opacity");
  m_opacity->setAccessibleName(tr("Opacity of the classes' colours"));
  m_opacity->setRange(kLeastOpacity, 100);
  m_opacity->setPageStep(10);
  m_opacity->setValue(static_cast<int>(std::lround(100 * m_look.opacity)));
  m_opacity->setFixedWidth(kOpacityWidth);
  beside->addWidget(m_words);
  beside->addWidget(m_opacity);
  row->addWidget(opacity);
  column->addWidget(tools);
  auto* const legend = new QWidget;
  m_legend = new FlowLayout(legend, 12);
  m_more = makeLabel("hint");
  m_more->hide();
  m_legend->addWidget(m_more);
  column->addWidget(legend);
  connect(m_opacity, &QSlider::valueChanged, this, &MaskTools::take);
  take();
}

void MaskTools::setClasses(const QStringList& words) {
  for (MaskClass* const each : m_classes) delete each;
  m_classes.clear();
  m_look.hidden.clear();
  const auto shown = std::min<qsizetype>(words.size(), kMostClasses);
  for (int i = 0; i < shown; ++i) {
    auto* const each = new MaskClass(i, words[i]);
    each->setObjectName(QStringLiteral("mask-class-%1").arg(i));
    connect(each, &MaskClass::toggled, this, &MaskTools::take);
    m_legend->insertWidget(i, each);
    m_classes.push_back(each);
  }
  m_more->setText(tr("and %1 more, each with a colour of these").arg(words.size() - shown));
  m_more->setVisible(words.size() > shown);
  take();
}

void MaskTools::take() {
  m_look.picture = m_picture->isChecked();
  m_look.truth = m_truth->isChecked();
  m_look.said = m_said->isChecked();
  m_look.outline = m_outline->isChecked();
  m_look.opacity = m_opacity->value() / 100.0;
  m_look.hidden.clear();
  for (const MaskClass* const each : m_classes)
    if (!each->isChecked()) m_look.hidden.insert(each->of());
  m_words->setText(tr("Opacity %1 %").arg(m_opacity->value()));
  Q_EMIT changed(m_look);
}

}  // namespace loom
