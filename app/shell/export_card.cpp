#include "app/shell/export_card.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "app/run_metrics.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

constexpr int kFieldWidth = 300;
constexpr const char* kEndings[] = {".py", ".onnx", ".safetensors"};

}  // namespace

ExportCard::ExportCard(const Choices& choices, const RunMetrics& metrics, QWidget* window)
    : Popover(window), m_folder(choices.folder), m_name(choices.name) {
  setObjectName("export-card");
  setTitle(tr("Export model"));
  const RunRecord* const best = bestTrained(choices.runs, metrics);
  const QString bestId = best ? best->id : QString();
  m_run = new ChoiceField;
  m_run->setObjectName("export-run");
  m_run->setAccessibleName(tr("Weights of"));
  const auto add = [&](const RunRecord& run) {
    m_runs << run;
    const QString value = std::isfinite(run.best) && !run.metric.isEmpty() ? metrics.text(run, run.best) : QString();
    QString words = value.isEmpty() ? run.name : tr("%1, %2").arg(run.name, value);
    if (run.id == bestId) words = tr("%1 (best)").arg(words);
    m_run->addItem(words, run.id);
  };
  if (best) add(*best);
  for (auto run = choices.runs.rbegin(); run != choices.runs.rend(); ++run)
    if (run->id != bestId && hasWeightsHere(*run)) add(*run);
  if (choices.project) m_run->addItem(tr("As training would begin"), QString());
  if (const int place = m_run->findData(choices.chosen); place >= 0 && !choices.chosen.isEmpty())
    m_run->setCurrentIndex(place);
  m_weights = new ChoiceField;
  m_weights->setObjectName("export-weights");
  m_weights->setAccessibleName(tr("Which weights"));
  m_form = new SegmentedControl({tr("PyTorch"), tr("ONNX"), tr("Weights")});
  m_form->setObjectName("export-form");
  m_form->setAccessibleName(tr("Form"));
  for (QWidget* each : std::initializer_list<QWidget*>{m_run, m_weights}) each->setFixedWidth(kFieldWidth);
  auto* const form = new QFormLayout;
  form->setHorizontalSpacing(16);
  form->setVerticalSpacing(8);
  form->addRow(makeLabel("label", tr("Weights of")), m_run);
  form->addRow(makeLabel("label", tr("Which")), m_weights);
  form->addRow(makeLabel("label", tr("Form")), m_form);
  contentLayout()->addLayout(form);
  auto* const foot = new QHBoxLayout;
  auto* const start = new Button("export", tr("Export..."), ButtonKind::tinted);
  start->setObjectName("export-start");
  foot->addStretch();
  foot->addWidget(start);
  contentLayout()->addLayout(foot);
  connect(m_run, &QComboBox::currentIndexChanged, this, &ExportCard::runChosen);
  connect(start, &Button::clicked, this, &ExportCard::chooseFile);
  runChosen();
}

QString ExportCard::run() const {
  return m_run->currentData().toString();
}

void ExportCard::runChosen() {
  m_weights->clear();
  for (const RunRecord& each : m_runs) {
    if (each.id != run()) continue;
    for (const RunWeights weights : {RunWeights::best, RunWeights::last})
      if (weights == RunWeights::last || hasBest(each))
        m_weights->addItem(wordsOf(each, weights), static_cast<int>(weights));
  }
  m_weights->setEnabled(m_weights->count() > 0);
  if (m_weights->count() == 0) m_weights->addItem(tr("Initial weights"), static_cast<int>(RunWeights::best));
}

ExportWish ExportCard::wish(const QString& file) const {
  return {run(), static_cast<RunWeights>(m_weights->currentData().toInt()), file};
}

void ExportCard::chooseFile() {
  const QStringList filters{tr("PyTorch script (*.py)"), tr("ONNX (*.onnx)"), tr("Weights (*.safetensors)")};
  const int form = m_form->current();
  QString file = QFileDialog::getSaveFileName(parentWidget(), tr("Export model"),
                                              m_folder + '/' + m_name + kEndings[form], filters[form]);
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().isEmpty()) file += QString::fromLatin1(kEndings[form]);
  const ExportWish wanted = wish(file);
  close();
  Q_EMIT this->wanted(wanted);
}

}  // namespace loom
