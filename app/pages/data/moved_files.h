#pragma once
// Data that lie somewhere else than the project says: a person shows the new place once, for all that lay there. Files
// of a person's stay as they are; GUI thread unless said otherwise.
#include <QString>
#include <QStringList>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "engine/data/csv_format.h"

class QWidget;

namespace loom {

class ProjectDocument;

// The datasets whose CSV is `from`, and those of its folder that are not there and lie beside `to`: by name their new
// paths. Looks at the disk.
std::map<std::string, QString> movedTogether(const ProjectDocument& document, const QString& from, const QString& to);
// Asks for the CSV of a dataset and takes it for all that moved along, as one undo step; false: nothing was chosen.
bool findTable(QWidget* parent, ProjectDocument& document, const std::string& dataset);

struct MovedFiles {
  QString csv;                       // that names them
  CsvFormatChoice format;            // of it
  std::vector<std::string> columns;  // of files
  QString folder;                    // where they lie now, in folders or not
  QString out;                       // a CSV that names them there; relative to it what lies under `inside`
  QString inside;
};
struct FoundFiles {
  qint64 found = 0, missing = 0;  // in the new place; neither there nor in the old one
  QString fault;                  // why nothing was written; empty where it was
};
// On any thread. Where none was found nothing is written.
FoundFiles nameMovedFiles(const MovedFiles& moved, const std::atomic<bool>& outdated);

}  // namespace loom
