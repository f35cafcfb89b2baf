#include "widgets/library/own_layers.h"

#include <QDir>
#include <QFileInfo>
#include <QSaveFile>
#include <algorithm>

#include "widgets/document/network_edits.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

constexpr int kLookAgainMs = 120;  // an editor writes in several steps

}  // namespace

OwnLayers::OwnLayers(QString folder, QObject* parent) : QObject(parent), m_folder(std::move(folder)) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(kLookAgainMs);
  connect(&m_soon, &QTimer::timeout, this, &OwnLayers::read);
  connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_soon, qOverload<>(&QTimer::start));
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_soon, qOverload<>(&QTimer::start));
  read();
}

// A file that did not change is not read into something else: only what differs is told.
void OwnLayers::read() {
  std::vector<OwnLayer> found;
  const QFileInfoList files = QDir(m_folder).entryInfoList({"*.loom"}, QDir::Files, QDir::Name | QDir::IgnoreCase);
  QStringList watched;
  for (const QFileInfo& each : files) {
    found.push_back(readOwnLayer(each.filePath()));
    watched << each.filePath();
  }
  // Two files of one name: the first holds.
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t before = 0; before < i && found[i].fault.isEmpty(); ++before)
      if (found[before].fault.isEmpty() && found[before].name == found[i].name)
        found[i].fault = tr("%1 holds a layer of this name too").arg(QFileInfo(found[before].file).fileName());
  std::stable_sort(found.begin(), found.end(), [](const OwnLayer& a, const OwnLayer& b) {
    return q(a.name).compare(q(b.name), Qt::CaseInsensitive) < 0;
  });
  // The nearest folder that is there: one that comes later is seen by the one around it.
  QString around = m_folder;
  while (!QFileInfo(around).isDir() && QFileInfo(around).path() != around) around = QFileInfo(around).path();
  watched << around;
  const QStringList before = m_watcher.files() + m_watcher.directories();
  QStringList gone, came;
  for (const QString& each : before)
    if (!watched.contains(each)) gone << each;
  for (const QString& each : std::as_const(watched))
    if (!before.contains(each)) came << each;
  if (!gone.isEmpty()) m_watcher.removePaths(gone);
  if (!came.isEmpty()) m_watcher.addPaths(came);
  const auto same = [](const OwnLayer& a, const OwnLayer& b) {
    return a.file == b.file && a.text == b.text && a.fault == b.fault;
  };
  if (std::equal(found.begin(), found.end(), m_layers.begin(), m_layers.end(), same)) return;
  m_layers = std::move(found);
  Q_EMIT changed();
}

const OwnLayer* OwnLayers::find(const std::string& name) const {
  const auto found = std::find_if(m_layers.begin(), m_layers.end(),
                                  [&](const OwnLayer& each) { return each.name == name && each.fault.isEmpty(); });
  return found == m_layers.end() ? nullptr : &*found;
}

QString OwnLayers::fileOf(const std::string& name) const {
  const OwnLayer* const here = find(name);
  return here ? here->file : m_folder + '/' + q(name) + ".loom";
}

QString OwnLayers::write(const QString& file, const std::string& text) {
  if (!QDir().mkpath(m_folder)) return tr("The folder of your layers, %1, cannot be made").arg(m_folder);
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly) || out.write(text.data(), static_cast<qint64>(text.size())) < 0 || !out.commit())
    return tr("%1 cannot be written: %2").arg(file, out.errorString());
  read();
  return {};
}

QString OwnLayers::save(const Project& project, const std::string& unit) {
  if (project.unit(unit) == nullptr) return tr("There is no unit '%1'").arg(q(unit));
  const std::string text = ownLayerText(project, unit);
  if (const OwnLayer layer = ownLayerOf(text, fileOf(unit)); !layer.fault.isEmpty())
    return tr("'%1' cannot be a layer of its own: %2").arg(q(unit), layer.fault);
  return write(fileOf(unit), text);
}

QString OwnLayers::put(const std::string& name, const std::string& text) {
  return write(fileOf(name), text);
}

QString OwnLayers::rename(const std::string& from, const std::string& to) {
  const OwnLayer* const layer = find(from);
  if (!layer) return tr("There is no layer '%1' among yours").arg(q(from));
  if (!validId(to)) return tr("'%1' is no name: letters, digits, '_' and '-', beginning with a letter").arg(q(to));
  if (isLayerName(to)) return tr("'%1' is a layer: yours needs a name of its own").arg(q(to));
  if (find(to) || QFileInfo::exists(m_folder + '/' + q(to) + ".loom"))
    return tr("There is a layer '%1' among yours already").arg(q(to));
  Project definition = layer->definition;
  renameUnit(definition, from, to);
  const QString before = layer->file;
  if (const QString reason = write(m_folder + '/' + q(to) + ".loom", ownLayerText(definition, to)); !reason.isEmpty())
    return reason;
  QFile::remove(before);
  read();
  return {};
}

QString OwnLayers::remove(const std::string& name) {
  for (const OwnLayer& each : m_layers) {
    if (each.name != name) continue;
    QFile file(each.file);
    if (!file.remove()) return tr("%1 cannot be removed: %2").arg(each.file, file.errorString());
    read();
    return {};
  }
  return tr("There is no layer '%1' among yours").arg(q(name));
}

}  // namespace loom
