#include "app/project_import.h"

#include <QFileInfo>
#include <QStringList>

#include "engine/base/error.h"
#include "engine/exchange/laid_over.h"

namespace loom {

bool ProjectImport::takes(const QString& file) {
  try {
    return QFileInfo(file).isFile() && findImporter(file.toStdString());
  } catch (const Error&) {
    return false;
  }
}

bool ProjectImport::holdsWeights(const QString& file) {
  return QFileInfo(file).isFile() && file.endsWith(".safetensors", Qt::CaseInsensitive);
}

QString ProjectImport::filter() {
  QStringList endings;
  for (const Importer* importer : importerTable())
    for (const std::string& extension : importer->extensions) endings << '*' + QString::fromStdString(extension);
  return tr("Projects of other tools (%1)").arg(endings.join(' '));
}

void ProjectImport::start(const QString& file) {
  cancel();
  m_running.emplace(this);
  m_stop = std::make_shared<std::atomic<bool>>(false);
  m_running->start([file, stop = m_stop](const Background<ProjectImport>& here) {
    const auto end = [&here, file](auto tell) {
      here.post([tell, file](ProjectImport& import) {
        import.m_running.reset();
        tell(import, file);
      });
    };
    try {
      double told = 0;
      const auto progress = [&](double share) {
        if (share < told + 0.01) return;
        told = share;
        here.post([share](ProjectImport& import) { Q_EMIT import.progressed(share); });
      };
      auto imported = std::make_shared<const Imported>(
          importFile({.file = file.toStdString(), .stop = stop.get(), .progress = progress}));
      end([imported](ProjectImport& import, const QString& from) { Q_EMIT import.finished(from, imported); });
    } catch (const std::exception& error) {
      end([sentence = QString::fromUtf8(error.what())](ProjectImport& import, const QString& from) {
        Q_EMIT import.failed(from, sentence);
      });
    }
  });
}

void ProjectImport::layOver(const QString& file, Project project, std::string network) {
  cancel();
  m_running.emplace(this);
  m_running->start([file, project = std::make_shared<const Project>(std::move(project)),
                    network](const Background<ProjectImport>& here) {
    try {
      const LaidOverWeights over = loom::layOver(file.toStdString(), *project, network);
      const LaidOver result{file, toJson(over.match, over.parameters, over.tensors)};
      here.post([result](ProjectImport& import) {
        import.m_running.reset();
        Q_EMIT import.laidOver(result);
      });
    } catch (const std::exception& error) {
      here.post([file, sentence = QString::fromUtf8(error.what())](ProjectImport& import) {
        import.m_running.reset();
        Q_EMIT import.failed(file, sentence);
      });
    }
  });
}

void ProjectImport::cancel() {
  if (m_stop) *m_stop = true;
  if (m_running) m_running->cancel();
  m_running.reset();
}

}  // namespace loom
