// Limits, and results against what they cost: picture and table.
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>

#include "app/attempt.h"
#include "app/pages/search/front_picture.h"
#include "app/pages/search/search_page.h"
#include "app/pages/search/trial_model.h"
#include "engine/base/files.h"
#include "widgets/controls/choice_field.h"

namespace loom {

std::vector<CostLimit> SearchPage::limits() const {
  std::vector<CostLimit> all;
  for (const auto& [kind, field] : m_limits)
    if (const QString text = field->text().trimmed(); !text.isEmpty())
      all.push_back(parseLimit(std::string(kind->key) + '=' + text.toStdString()));
  return all;
}

const TrialCostKind& SearchPage::against() const {
  return costKindNamed(m_against->currentData().toString().toStdString());
}

void SearchPage::refreshFront() {
  const ShownSearch& shown = m_model->search();
  m_frontPart->setVisible(shown.hasCosts);
  if (shown.hasCosts) m_front->setContent(shown, against());
}

void SearchPage::exportFront() {
  if (!m_model->search().hasCosts) return tell(tr("There is no front: the trials do not differ in what they cost."));
  auto* dialog = new QFileDialog(window(), tr("Export the front"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix("csv");
  dialog->selectFile(m_shown + "-front.csv");
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    const ShownSearch& shown = m_model->search();
    const QString fault =
        attempt([&] { writeFileAtomically(file.toStdString(), frontCsv(shown.plan, shown.rows(), against())); });
    if (!fault.isEmpty()) return tell(fault);
    context().notify({tr("%1 was written.").arg(QFileInfo(file).fileName()), {}, {}});
  });
  dialog->open();
}

}  // namespace loom
