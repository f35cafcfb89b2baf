#include "app/pages/settings/batch_equation.h"

#include <QGridLayout>
#include <QLabel>
#include <algorithm>
#include <cmath>

#include "widgets/controls/number_field.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kFieldWidth = 120;

QLabel* made(const char* kind, const QString& text = {}) {
  auto* label = new QLabel(text);
  label->setProperty("kind", kind);
  return label;
}

QString problemOf(const NumberField& field) {
  if (!field.problem().isEmpty()) return field.problem();
  if (!field.value()) return BatchEquation::tr("a number is missing");
  return *field.value() >= 1 ? QString() : BatchEquation::tr("1 is the least");
}

}  // namespace

BatchEquation::BatchEquation(QWidget* parent) : QWidget(parent) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(20, 14, 20, 14);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(6);
  const auto field = [this](const QString& name) {
    auto* number = new NumberField(NumberField::Kind::integer);
    keepWidth(number, kFieldWidth);
    number->setAccessibleName(name);
    number->setLimits(1, 1e7);
    number->setGrouped(true);
    number->setSteppers(true);
    const auto restyle = [number] {
      QFont font = Theme::of(number).numberFont(FontRole::title);
      number->setFont(font);
    };
    restyle();
    connect(&Theme::of(this), &Theme::changed, number, restyle);
    return number;
  };
  const auto sign = [this](const QString& text) {
    auto* label = new QLabel(text);
    const auto restyle = [label] { keepFont(label, FontRole::title); };
    restyle();
    connect(&Theme::of(this), &Theme::changed, label, restyle);
    label->setAlignment(Qt::AlignCenter);
    return label;
  };
  const auto column = [&](int at, const QString& title, QWidget* centre, QLabel*& hint) {
    grid->addWidget(made("label", title), 0, at);
    grid->addWidget(centre, 1, at);
    hint = made("hint");
    hint->setMinimumHeight(18);
    grid->addWidget(hint, 2, at, 1, 2, Qt::AlignTop);
  };
  m_perRankField = field(QStringLiteral("Samples per rank and pass"));
  m_ranksField = field(QStringLiteral("Ranks"));
  keepWidth(m_ranksField, 104);
  m_accumulationField = field(QStringLiteral("Accumulation"));
  keepWidth(m_accumulationField, 104);
  m_globalField = field(QStringLiteral("Global batch"));
  m_globalField->setSteppers(false);
  m_globalField->setAlignment(Qt::AlignCenter);
  m_globalField->setProperty("result", true);  // what the others come to
  column(0, QStringLiteral("Per rank"), m_perRankField, m_perRankHint);
  grid->addWidget(sign(QStringLiteral("×")), 1, 1);
  column(2, QStringLiteral("Ranks"), m_ranksField, m_ranksHint);
  grid->addWidget(sign(QStringLiteral("×")), 1, 3);
  column(4, QStringLiteral("Accumulation"), m_accumulationField, m_accumulationHint);
  grid->addWidget(sign(QStringLiteral("=")), 1, 5);
  column(6, QStringLiteral("Global batch"), m_globalField, m_globalHint);
  m_globalHint->setWordWrap(true);
  grid->setColumnStretch(7, 1);
  connect(m_perRankField, &NumberField::valueChanged, this, &BatchEquation::perRankTyped);
  connect(m_ranksField, &NumberField::valueChanged, this, &BatchEquation::ranksTyped);
  connect(m_accumulationField, &NumberField::valueChanged, this, &BatchEquation::accumulationTyped);
  connect(m_globalField, &NumberField::valueChanged, this, &BatchEquation::globalTyped);
  for (NumberField* each : {m_perRankField, m_ranksField, m_accumulationField, m_globalField})
    connect(each, &QLineEdit::textChanged, this, [this, each] {
      setStyleProperty(each, "problem", problemOf(*each).isEmpty() ? QString() : QStringLiteral("error"));
      if (!m_setting) Q_EMIT unreadChanged();
    });
}

void BatchEquation::setValues(std::int64_t globalBatch, std::int64_t accumulation, std::int64_t ranks) {
  m_global = std::max<std::int64_t>(1, globalBatch);
  m_accumulation = std::max<std::int64_t>(1, accumulation);
  m_ranks = std::max<std::int64_t>(1, ranks);
  m_setting = true;
  m_globalField->setValue(static_cast<double>(m_global));
  m_accumulationField->setValue(static_cast<double>(m_accumulation));
  m_perRankField->setValue(static_cast<double>(perRank()));
  m_ranksField->setValue(static_cast<double>(m_ranks));
  m_setting = false;
  Q_EMIT unreadChanged();
  showNotes();
}

std::vector<BatchEquation::Unread> BatchEquation::unread() const {
  std::vector<Unread> unread;
  for (NumberField* each : {m_perRankField, m_ranksField, m_accumulationField, m_globalField})
    if (const QString problem = problemOf(*each); !problem.isEmpty())
      unread.push_back({each->accessibleName(), problem, each});
  return unread;
}

bool BatchEquation::focusField(const std::string& setting) {
  if (setting != "batch" && setting != "accumulate" && setting != "virtual_ranks") return false;
  const std::vector<Unread> wrong = unread();
  NumberField* const field = !wrong.empty()               ? wrong.front().field
                             : setting == "accumulate"    ? m_accumulationField
                             : setting == "virtual_ranks" ? m_ranksField
                                                          : m_globalField;
  field->setFocus(Qt::ShortcutFocusReason);
  return true;
}

void BatchEquation::takeBack() {
  setValues(m_global, m_accumulation, m_ranks);
}

void BatchEquation::setRanksNote(const QString& note) {
  m_ranksNote = note;
  showNotes();
}

std::int64_t BatchEquation::perRank() const {
  return (m_global + m_accumulation * m_ranks - 1) / (m_accumulation * m_ranks);
}

void BatchEquation::ranksTyped(double value) {
  const auto ranks = static_cast<std::int64_t>(value);
  if (ranks >= 1) Q_EMIT ranksEdited(ranks, perRank() * ranks * m_accumulation);
}

void BatchEquation::showNotes() {
  m_perRankHint->setText(QStringLiteral("samples in one pass"));
  m_ranksHint->setText(m_ranksNote);
  m_accumulationHint->setText(m_accumulation == 1 ? QStringLiteral("one pass a step")
                                                  : QStringLiteral("passes a step"));
  const std::int64_t pieces = m_accumulation * m_ranks, rest = m_global % pieces;
  if (rest != 0)
    m_globalHint->setText(
        QStringLiteral("%L1 does not divide by %L2: the last pass has fewer").arg(m_global).arg(pieces));
  else
    m_globalHint->setText(QStringLiteral("samples in one step"));
  setStyleProperty(m_globalHint, "kind", rest != 0 ? "warning" : "hint");
}

void BatchEquation::perRankTyped(double value) {
  const auto samples = static_cast<std::int64_t>(value);
  if (samples >= 1) Q_EMIT edited(samples * m_ranks * m_accumulation, m_accumulation);
}

void BatchEquation::accumulationTyped(double value) {
  const auto passes = static_cast<std::int64_t>(value);
  if (passes >= 1) Q_EMIT edited(perRank() * m_ranks * passes, passes);
}

void BatchEquation::globalTyped(double value) {
  const auto batch = static_cast<std::int64_t>(value);
  if (batch >= 1) Q_EMIT edited(batch, m_accumulation);
}

}  // namespace loom
