#include "app/pages/settings/range_card.h"

#include <QLabel>
#include <QVBoxLayout>

#include "app/pages/settings/schedule_preview.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

std::optional<double> numberOf(const Json& line, const char* key) {
  if (!line.contains(key) || line[key].is_null()) return {};
  return numberFromJson(line[key]);
}

}  // namespace

RangeCard::RangeCard(ProjectDocument& document, QWidget* parent)
    : HeadedCard(tr("Range test"), parent), m_document(document) {
  m_apply = addButton("range-apply", tr("Apply"), ButtonKind::tinted);
  m_run = addButton("range-run", tr("Run"));
  m_plot = new SmallPlot(tr("Loss over the learning rate"));
  m_plot->setWords(tr("A short run whose rate grows at every step"));
  column().addWidget(m_plot, 1);
  m_words = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_words->setObjectName("range-words");
  column().addWidget(m_words);
  connect(m_run, &QPushButton::clicked, this, &RangeCard::startOrStop);
  connect(m_apply, &QPushButton::clicked, this, &RangeCard::apply);
  connect(m_plot, &SmallPlot::pointed, this, [this](int at) {
    if (at < 0 || at >= static_cast<int>(m_plot->curve().size())) return show();
    const QPointF point = m_plot->curve()[static_cast<std::size_t>(at)];
    m_words->setText(tr("Loss %1 at rate %2").arg(formatLoss(point.y()), formatRate(point.x())));
  });
  connect(&m_call, &ProjectCall::told, this, &RangeCard::take);
  connect(&m_call, &ProjectCall::answered, this, &RangeCard::finish);
  connect(&m_call, &ProjectCall::refused, this, [this](const QString& sentence) {
    m_refusal = sentence;
    show();
  });
  show();
}

void RangeCard::setUpdate(std::size_t index) {
  if (index == m_update) return;
  m_update = index;
  show();
}

QByteArray RangeCard::measuredWith() const {
  const TrainingSpec& training = m_document.project().training;
  if (m_update >= training.updates.size()) return {};
  Json rule = training.updates[m_update].optimizer, settings = training.settings;
  if (rule.is_object()) rule.erase("learning_rate");
  for (const char* apart : {"epochs", "max_steps", "validate_every", "checkpoint_every", "monitor"})
    if (settings.is_object()) settings.erase(apart);
  return QByteArray::fromStdString(Json::array({rule, settings, training.updates[m_update].network, m_update}).dump());
}

void RangeCard::refresh() {
  show();
}

void RangeCard::startOrStop() {
  m_refusal.clear();
  if (m_call.runs()) {
    m_call.cancel();
    return show();
  }
  m_raw.clear();
  m_suggested = m_mark = m_steepest = m_diverged = std::nullopt;
  m_plot->setCurve({});
  m_plot->setMarks({});
  m_measured = measuredWith();
  m_call.start(QStringLiteral("range-test"), m_document.project(), m_document.folder(),
               {QStringLiteral("--update"), QString::number(m_update + 1)});
  show();
}

void RangeCard::take(const Json& line) {
  if (!line.contains("rate")) return;
  m_raw.emplace_back(numberFromJson(line["rate"]), numberFromJson(line["loss"]));
  m_plot->setCurve(m_raw);
  show();
}

void RangeCard::finish(const Json& last) {
  std::vector<QPointF> smooth;
  const Json losses = last.value("smoothed", Json::array());
  for (std::size_t i = 0; i < losses.size() && i < m_raw.size(); ++i)
    smooth.emplace_back(m_raw[i].x(), numberFromJson(losses[i]));
  m_plot->setCurve(smooth.empty() ? m_raw : smooth, m_raw);
  m_steepest = numberOf(last, "steepest");
  m_diverged = numberOf(last, "diverged");
  m_mark = numberOf(last, "suggested");
  if (const auto field = numberOf(last, "learning_rate")) m_suggested = typedRate(*field);
  if (m_mark) m_plot->setMarks({{*m_mark, true}});
  show();
}

void RangeCard::apply() {
  if (!m_suggested || m_update >= m_document.project().training.updates.size()) return;
  m_document.edit(tr("Apply the range test"), [this](ProjectEdit& edit) {
    edit.training().updates[m_update].optimizer["learning_rate"] = *m_suggested;
  });
}

void RangeCard::show() {
  const bool runs = m_call.runs(), stale = !m_measured.isEmpty() && m_measured != measuredWith();
  m_run->setText(runs ? tr("Stop") : m_raw.empty() ? tr("Run") : tr("Run again"));
  const auto& updates = m_document.project().training.updates;
  const Json rate = m_update < updates.size() && updates[m_update].optimizer.is_object()
                        ? updates[m_update].optimizer.value("learning_rate", Json())
                        : Json();
  const bool applied = m_suggested && rate.is_number() && rate.get<double>() == *m_suggested;
  m_apply->setVisible(m_suggested.has_value() && !runs);
  m_apply->setEnabled(!applied);
  m_apply->setText(applied ? tr("Applied") : tr("Apply"));
  setHint(runs             ? tr("step %1 of 100").arg(m_raw.size())
          : stale          ? tr("with other settings than now")
          : !m_raw.empty() ? counted(static_cast<qint64>(m_raw.size()), tr("steps"))
                           : tr("learning rate"));
  QStringList words;
  if (!m_refusal.isEmpty()) words << m_refusal;
  if (m_steepest)
    words << tr("Steepest at %1%2.")
                 .arg(formatRate(*m_steepest),
                      m_diverged ? tr(", diverges at %1").arg(formatRate(*m_diverged)) : QString());
  if (m_suggested) words << tr("Suggested %1.").arg(formatRate(*m_suggested));
  if (!runs && m_refusal.isEmpty() && !m_raw.empty() && !m_suggested)
    words << tr("No suggestion: it was stopped, or the loss never fell.");
  m_words->setText(words.join(' '));
}

}  // namespace loom
