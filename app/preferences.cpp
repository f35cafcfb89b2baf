#include "app/preferences.h"

#include <QCryptographicHash>
#include <QJsonArray>
#include <QJsonDocument>

namespace loom {
namespace {

constexpr int kRecents = 20;

}  // namespace

Preferences::Preferences(const QString& file, QObject* parent)
    : QObject(parent), m_settings(file, QSettings::IniFormat) {}

ThemeMode Preferences::themeMode() const {
  const QString mode = m_settings.value("look/theme", "system").toString();
  return mode == "light" ? ThemeMode::light : mode == "dark" ? ThemeMode::dark : ThemeMode::system;
}

void Preferences::setThemeMode(ThemeMode mode) {
  m_settings.setValue("look/theme", mode == ThemeMode::light ? "light" : mode == ThemeMode::dark ? "dark" : "system");
  Q_EMIT changed();
}

int Preferences::textSize() const {
  return qBound(90, m_settings.value("look/text_size", 100).toInt(), 150);
}

void Preferences::setTextSize(int percent) {
  m_settings.setValue("look/text_size", percent);
  Q_EMIT changed();
}

bool Preferences::reducedMotion() const {
  return m_settings.value("look/reduced_motion", false).toBool();
}

void Preferences::setReducedMotion(bool reduced) {
  m_settings.setValue("look/reduced_motion", reduced);
  Q_EMIT changed();
}

bool Preferences::wheelZooms() const {
  return m_settings.value("canvas/wheel_zooms", true).toBool();
}

void Preferences::setWheelZooms(bool zooms) {
  m_settings.setValue("canvas/wheel_zooms", zooms);
  Q_EMIT changed();
}

QHash<QString, QStringList> Preferences::changedKeys() const {
  QHash<QString, QStringList> changed;
  const QJsonObject all = QJsonDocument::fromJson(m_settings.value("keys").toByteArray()).object();
  for (auto each = all.begin(); each != all.end(); ++each) {
    QStringList& keys = changed[each.key()];
    for (const QJsonValue& key : each->toArray()) keys << key.toString();
  }
  return changed;
}

void Preferences::setChangedKeys(const QHash<QString, QStringList>& changed) {
  QJsonObject all;
  for (auto each = changed.begin(); each != changed.end(); ++each)
    all.insert(each.key(), QJsonArray::fromStringList(*each));
  m_settings.setValue("keys", QJsonDocument(all).toJson(QJsonDocument::Compact));
}

QList<RecentProject> Preferences::recentProjects() const {
  QList<RecentProject> recents;
  for (const QString& line : m_settings.value("recent").toStringList()) {
    const qsizetype bar = line.indexOf('|');
    if (bar > 0)
      recents << RecentProject{line.mid(bar + 1), QDateTime::fromSecsSinceEpoch(line.left(bar).toLongLong())};
  }
  return recents;
}

void Preferences::addRecentProject(const QString& path) {
  QStringList lines{QString::number(QDateTime::currentSecsSinceEpoch()) + '|' + path};
  for (const RecentProject& each : recentProjects())
    if (each.path != path && lines.size() < kRecents)
      lines << QString::number(each.opened.toSecsSinceEpoch()) + '|' + each.path;
  m_settings.setValue("recent", lines);
  Q_EMIT recentsChanged();
}

void Preferences::removeRecentProject(const QString& path) {
  QStringList lines;
  for (const RecentProject& each : recentProjects())
    if (each.path != path) lines << QString::number(each.opened.toSecsSinceEpoch()) + '|' + each.path;
  m_settings.setValue("recent", lines);
  Q_EMIT recentsChanged();
}

void Preferences::moveProject(const QString& from, const QString& to) {
  QStringList lines;
  for (const RecentProject& each : recentProjects())
    if (each.path != to)
      lines << QString::number(each.opened.toSecsSinceEpoch()) + '|' + (each.path == from ? to : each.path);
  m_settings.setValue("recent", lines);
  m_settings.beginGroup(groupOf(from));
  QHash<QString, QVariant> kept;
  for (const QString& key : m_settings.allKeys()) kept.insert(key, m_settings.value(key));
  m_settings.endGroup();
  m_settings.remove(groupOf(from));
  for (auto each = kept.begin(); each != kept.end(); ++each)
    m_settings.setValue(groupOf(to) + '/' + each.key(), each.value());
  // The copy of a sample stays the one that the sample opens.
  m_settings.beginGroup("copies");
  for (const QString& key : m_settings.allKeys())
    if (m_settings.value(key).toString() == from) m_settings.setValue(key, to);
  m_settings.endGroup();
  Q_EMIT recentsChanged();
}

QByteArray Preferences::windowGeometry() const {
  return m_settings.value("window/geometry").toByteArray();
}
void Preferences::setWindowGeometry(const QByteArray& geometry) {
  m_settings.setValue("window/geometry", geometry);
}

QString Preferences::groupOf(const QString& project) const {
  const QByteArray hash = QCryptographicHash::hash(project.toUtf8(), QCryptographicHash::Sha1).toHex().left(16);
  return "projects/" + QString::fromLatin1(hash);
}

QJsonObject Preferences::layoutOf(const QString& project, const QString& page) const {
  return QJsonDocument::fromJson(m_settings.value(groupOf(project) + "/layout_" + page).toByteArray()).object();
}

void Preferences::setLayoutOf(const QString& project, const QString& page, const QJsonObject& layout) {
  const QString key = groupOf(project) + "/layout_" + page;
  if (layout.isEmpty())
    m_settings.remove(key);
  else
    m_settings.setValue(key, QJsonDocument(layout).toJson(QJsonDocument::Compact));
}

void Preferences::resetLayout(const QString& project) {
  m_settings.remove(groupOf(project));
}

QString Preferences::lastPageOf(const QString& project) const {
  return m_settings.value(groupOf(project) + "/page").toString();
}
QString Preferences::hostOf(const QString& project) const {
  return m_settings.value(groupOf(project) + "/host").toString();
}
int Preferences::ranksOf(const QString& project) const {
  return m_settings.value(groupOf(project) + "/ranks").toInt();
}
void Preferences::setHostOf(const QString& project, const QString& host, int ranks) {
  m_settings.setValue(groupOf(project) + "/host", host);
  m_settings.setValue(groupOf(project) + "/ranks", ranks);
}

// By a hash: a path is no key of a settings file.
static QString copyKey(const QString& sample) {
  return "copies/" +
         QString::fromLatin1(QCryptographicHash::hash(sample.toUtf8(), QCryptographicHash::Sha1).toHex().left(16));
}
QString Preferences::copyOf(const QString& sample) const {
  return m_settings.value(copyKey(sample)).toString();
}
void Preferences::setCopyOf(const QString& sample, const QString& copy) {
  m_settings.setValue(copyKey(sample), copy);
}

// A name of its own for this machine, whose id is empty.
QJsonObject Preferences::checkOf(const QString& host) const {
  return QJsonDocument::fromJson(m_settings.value("checks/host_" + host).toByteArray()).object();
}
void Preferences::setCheckOf(const QString& host, const QJsonObject& check) {
  m_settings.setValue("checks/host_" + host, QJsonDocument(check).toJson(QJsonDocument::Compact));
}

QJsonObject Preferences::linksOf(const QString& host) const {
  return QJsonDocument::fromJson(m_settings.value("links/host_" + host).toByteArray()).object();
}
void Preferences::setLinksOf(const QString& host, const QJsonObject& links) {
  m_settings.setValue("links/host_" + host, QJsonDocument(links).toJson(QJsonDocument::Compact));
}

void Preferences::setLastPageOf(const QString& project, const QString& page) {
  m_settings.setValue(groupOf(project) + "/page", page);
}

}  // namespace loom
