#include "app/pages/settings/noise_card.h"

#include <QDir>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/workspace.h"
#include "engine/base/error.h"
#include "engine/network/batch_stages.h"
#include "engine/planner/critical_batch.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"
#include "widgets/theme/kept.h"

namespace loom {

static constexpr int kRunsListed = 8, kLeastField = 120;

NoiseCard::NoiseCard(ProjectDocument& document, Workspace& workspace, QWidget* parent)
    : HeadedCard(tr("Noise scale"), parent), m_document(document), m_workspace(workspace) {
  m_measure = addButton("noise-measure", tr("Measure"));
  setHint(tr("of the gradient: the critical batch"));
  m_weights = new ChoiceField;
  m_weights->setPrefix(tr("Weights"));
  m_weights->setAccessibleName(tr("Weights it is measured with"));
  // A run's long name is cut in the field, not the card at its right edge.
  m_weights->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  m_weights->setMinimumWidth(kLeastField);
  column().addSpacing(4);
  column().addWidget(m_weights);
  column().addSpacing(4);
  auto* figures = new QHBoxLayout;
  figures->setSpacing(6);
  m_figure = new QLabel;
  m_figure->setObjectName("noise-figure");
  m_unit = makeLabel("hint");
  m_batch = makeLabel("hint");
  keepFont(m_figure, FontRole::title, Face::numbers, 600);
  figures->addWidget(m_figure, 0, Qt::AlignBaseline);
  figures->addWidget(m_unit, 0, Qt::AlignBaseline);
  figures->addStretch();
  column().addLayout(figures);
  column().addWidget(m_batch);
  m_words = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_words->setObjectName("noise-words");
  column().addWidget(m_words);
  column().addStretch();
  connect(m_measure, &QPushButton::clicked, this, &NoiseCard::startOrStop);
  connect(&m_call, &ProjectCall::told, this, &NoiseCard::take);
  connect(&m_call, &ProjectCall::answered, this, &NoiseCard::finish);
  connect(&m_call, &ProjectCall::refused, this, [this](const QString& sentence) {
    m_refusal = sentence;
    show();
  });
  refresh();
}

// The newest first; those without a checkpoint have no weights yet.
void NoiseCard::listRuns() {
  const QString chosen = m_weights->currentData().toString();
  const QSignalBlocker quiet(m_weights);
  m_weights->clear();
  m_weights->addItem(tr("the first ones"), QString());
  QList<RunRecord> runs = m_workspace.runs();
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunRecord& a, const RunRecord& b) { return a.created > b.created; });
  for (const RunRecord& run : runs) {
    if (m_weights->count() > kRunsListed) break;
    if (QDir(run.folder + "/checkpoints").exists("last.json")) m_weights->addItem(run.name, run.folder);
  }
  m_weights->setCurrentIndex(std::max(0, m_weights->findData(chosen)));
}

void NoiseCard::refresh() {
  listRuns();
  show();
}

void NoiseCard::startOrStop() {
  m_refusal.clear();
  if (m_call.runs()) {
    m_call.cancel();
    return show();
  }
  m_noise.reset();
  m_least = m_soFar = 0;
  m_samples = 0;
  QStringList arguments{QStringLiteral("--update"), QString::number(m_update + 1)};
  if (const QString run = m_weights->currentData().toString(); !run.isEmpty())
    arguments << QStringLiteral("--run") << run;
  m_call.start(QStringLiteral("noise-scale"), m_document.project(), m_document.folder(), arguments);
  show();
}

void NoiseCard::take(const Json& line) {
  m_samples = line.value("samples", qint64{0});
  if (line.contains("noise_scale")) m_soFar = numberFromJson(line["noise_scale"]);
  show();
}

void NoiseCard::finish(const Json& last) {
  const double noise = numberFromJson(last.at("noise_scale"));
  if (last.value("at_least", false))
    m_least = noise;
  else
    m_noise = noise;
  show();
}

void NoiseCard::show() {
  const bool runs = m_call.runs();
  m_measure->setText(runs ? tr("Stop") : m_samples > 0 ? tr("Measure again") : tr("Measure"));
  m_figure->setText(m_noise       ? formatCount(std::round(*m_noise))
                    : m_least > 0 ? QStringLiteral("> ") + formatCount(std::round(m_least))
                    : runs && m_soFar > 0 && std::isfinite(m_soFar)
                        ? QStringLiteral("≈ ") + formatCount(std::round(m_soFar))
                        : QStringLiteral("–"));
  m_unit->setText(runs ? tr("from %1 samples so far").arg(formatCount(static_cast<double>(m_samples))) : tr("samples"));
  double batch = 0;
  try {
    batch = static_cast<double>(Values(settingsEntry(), m_document.project().training.settings).integer("batch"));
  } catch (const Error&) {
    // No number there: the field says so.
  }
  m_batch->setText(batch > 0 ? tr("batch in use %1").arg(formatCount(batch)) : QString());
  m_words->setText(!m_refusal.isEmpty()   ? m_refusal
                   : m_noise && batch > 0 ? QString::fromStdString(tradeSentence(*m_noise, batch))
                   : m_least > 0 ? tr("More noise than the samples looked at can tell: larger batches still pay.")
                                 : tr("It says how far larger batches pay. Nothing is written."));
}

}  // namespace loom
