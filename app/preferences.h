#pragma once
// What a person chose and what the program remembers: the look, recent projects, and how each project's window stood.
// One INI file; written when it changes.
#include <QDateTime>
#include <QHash>
#include <QJsonObject>
#include <QObject>
#include <QRect>
#include <QSettings>
#include <QString>

#include "widgets/theme/theme.h"

namespace loom {

struct RecentProject {
  QString path;
  QDateTime opened;
};

class Preferences : public QObject {
  Q_OBJECT

 public:
  explicit Preferences(const QString& file, QObject* parent = nullptr);

  ThemeMode themeMode() const;
  void setThemeMode(ThemeMode mode);
  static constexpr int kTextSizes[] = {90, 100, 110, 125, 150};  // percent
  int textSize() const;
  void setTextSize(int percent);
  bool reducedMotion() const;
  void setReducedMotion(bool reduced);
  bool wheelZooms() const;  // on the canvas; false: the wheel scrolls, Ctrl+wheel zooms
  void setWheelZooms(bool zooms);

  // Keys that are not the usual ones: id of the command, portable texts.
  QHash<QString, QStringList> changedKeys() const;
  void setChangedKeys(const QHash<QString, QStringList>& changed);

  QList<RecentProject> recentProjects() const;  // newest first
  void addRecentProject(const QString& path);
  void removeRecentProject(const QString& path);
  // It has another name or place: what is remembered of it goes along, in the list at the same place.
  void moveProject(const QString& from, const QString& to);

  // The window: frame, and for each project the page in front and what its pages want remembered.
  QByteArray windowGeometry() const;
  void setWindowGeometry(const QByteArray& geometry);
  QJsonObject layoutOf(const QString& project, const QString& page) const;
  void setLayoutOf(const QString& project, const QString& page, const QJsonObject& layout);
  void resetLayout(const QString& project);
  QString lastPageOf(const QString& project) const;
  void setLastPageOf(const QString& project, const QString& page);
  // Where Train sends runs of a project: id of a host (empty = this machine), and ranks (0 = all it offers).
  QString hostOf(const QString& project) const;
  int ranksOf(const QString& project) const;
  void setHostOf(const QString& project, const QString& host, int ranks);

  // The copy of one's own that a sample is opened as; empty where there is none yet.
  QString copyOf(const QString& sample) const;
  void setCopyOf(const QString& sample, const QString& copy);

  // The last check of a host, as HostChecks writes it.
  QJsonObject checkOf(const QString& host) const;
  void setCheckOf(const QString& host, const QJsonObject& check);
  // What was measured between its ranks, as MeasuredSums writes it.
  QJsonObject linksOf(const QString& host) const;
  void setLinksOf(const QString& host, const QJsonObject& links);

 Q_SIGNALS:
  void changed();  // the look
  void recentsChanged();

 private:
  QString groupOf(const QString& project) const;
  QSettings m_settings;
};

}  // namespace loom
