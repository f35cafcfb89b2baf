// SettingsPage: how many samples an epoch has.
#include <filesystem>

#include "app/pages/data/known_columns.h"
#include "app/pages/settings/settings_page.h"
#include "engine/base/error.h"
#include "engine/data/dataset.h"
#include "engine/network/dataset_rows.h"
#include "widgets/document/project_document.h"

namespace loom {

void SettingsPage::countRows() {
  const ProjectDocument& document = *context().document;
  const auto& updates = document.project().training.updates;
  const DatasetSpec* dataset =
      m_index < updates.size() ? document.project().dataset(updates[m_index].dataset) : nullptr;
  if (!dataset) {
    m_counter.forget();
    m_rows = -1;
    m_rowsKey.clear();
    return;
  }
  const QString path = datasetPath(document, *dataset),
                key = QStringLiteral("%1|%2|%3")
                          .arg(path, QString::fromStdString(dataset->extra.dump()),
                               QString::fromStdString(Json(prepareOf(document.project(), *dataset)).dump()));
  if (key == m_rowsKey) return;
  m_rowsKey = key;
  m_rows = -1;
  m_counter.ask([this, csv = std::filesystem::path(path.toStdString()), spec = *dataset,
                 prepare = prepareOf(document.project(), *dataset)](const std::atomic<bool>&) -> NewestTask::Answer {
    std::int64_t rows = -1;
    try {
      if (cacheIsFresh(csv, openingOf(spec, prepare))) rows = openRows(spec, csv, prepare)->size();
    } catch (const Error&) {
      // Said by the Data page and by training itself.
    }
    return [this, rows] {
      m_rows = rows;
      if (rows < 0) m_rowsKey.clear();  // asked again when the page comes to the front: the cache may stand then
      refreshPlan();
      refreshProblems();
    };
  });
}

}  // namespace loom
