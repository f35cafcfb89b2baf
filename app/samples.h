#pragma once
// The projects that come with the program, and where a person's own go when they have no place yet.
#include <QList>
#include <QString>

namespace loom {

struct SampleProject {
  QString path;     // of the .loom file
  QString title;    // "Digits"
  QString summary;  // one line; may be empty
};

// In the order in which a learner meets them, Digits first. Empty where the samples are not installed.
QList<SampleProject> samples();

// One of them, or inside their folder, or inside that of another clone or package.
bool isSample(const QString& path);

// Where a person's own projects go: DOCUMENTS/Gradloom.
QString projectsFolder();
// A folder NAME there, with a number behind it when that is taken. Made when it is not there.
QString newProjectFolder(const QString& name);
// Copies a sample (without runs and caches) so that it can be trained where nothing may be written beside the original.
QString copyProject(const QString& path, QString* reason);

}  // namespace loom
