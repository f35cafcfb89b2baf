#pragma once
// Every run that this person has seen, over all projects: a table of records and their curves. The run folders are the
// truth; the store is an index that can be thrown away. Appending is idempotent by (run, attempt, seq), so reading a
// log again neither loses nor repeats a point. Window's thread only; queries take a few milliseconds whatever the
// number of points.
#include <QHash>
#include <QObject>
#include <QSet>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>

#include "launcher/store/curve_reader.h"
#include "launcher/store/file_lock.h"
#include "launcher/store/metric_layers.h"
#include "launcher/store/run_data.h"
#include "launcher/store/run_marks.h"
#include "launcher/store/run_record.h"

namespace loom {

class Database;

class RunStore : public QObject {
  Q_OBJECT

 public:
  // Keeps in `folder` runs.db and, from which it can be made again, folders.txt (where runs are; '-' before what was
  // removed) and marks.jsonl (RunMarks). Throws Error when the folder cannot be written.
  explicit RunStore(const QString& folder, QObject* parent = nullptr);
  ~RunStore() override;

  // One sentence when the database had to be built anew, else empty.
  QString notice() const { return m_notice; }
  // Of runs that should be in the list and are not: it was damaged or deleted, or who noticed that ended before they
  // were read. Whoever opens a store reads them again (found_run.h).
  QStringList foldersToRead() const;
  // A person took the run of this folder from the table; a list that is built anew leaves it out, too.
  bool wasRemoved(const QString& folder) const { return m_removed.contains(folder); }
  // What a person gave the run of this folder, also while the list does not have it; null = nothing is known.
  const RunMark* mark(const QString& folder) const { return m_marks.find(folder); }
  void setHost(const QString& id, const QString& host);  // by its id: where the run is, or is to be

  // Oldest first. Without a project: of all. Deleted ones only where asked for.
  enum class Deleted { leaveOut, include };
  QList<RunRecord> runs(const QString& project = {}, Deleted deleted = Deleted::leaveOut) const;
  // The same without copies, for what is asked with every event; `look` may not change the store.
  void forEachRun(const QString& project, const std::function<void(const RunRecord&)>& look,
                  Deleted deleted = Deleted::leaveOut) const;
  const RunRecord* find(const QString& id) const;
  std::int64_t placeOf(const QString& id) const;  // how many were added before it; -1 for none of this id
  // "digits-4": the first number that no run of the project has, deleted ones counted in.
  QString freeName(const QString& project, const QString& wanted) const;
  const RunRecord* findFolder(const QString& folder) const;

  // Adds a run with the first colour that no run of its project has. An id or a folder that is known is left as it is:
  // the answer is the id that stands. On the disk at once, or, for one that would be found again (one of thousands in a
  // project's folder), within a second.
  enum class OnDisk { now, soon };
  QString add(RunRecord record, OnDisk onDisk = OnDisk::now);
  // Takes events and the new place in the log in one go.
  void append(const QString& id, const EventBatch& batch);
  std::int64_t logOffset(const QString& id) const;
  const std::string& logMark(const QString& id) const;  // of the log at that offset; empty = not known
  // Its log became another file: all that was taken of it goes, and is read again from the beginning.
  void forgetLog(const QString& id);

  void change(const QString& id, const std::function<void(RunRecord&)>& change);
  void setState(const QString& id, RunState state, const QString& message = {});
  void remove(const QString& id);                           // the row goes, the folder stays
  void setArchived(const QStringList& ids, bool archived);  // thousands at once
  void restore(const QString& id);
  void flush();                   // what is not yet in the database; happens by itself within a second
  void flush(const QString& id);  // of this run alone

  // Curves.
  std::vector<std::string> seriesNames(const QString& id) const;
  SeriesView view(const QString& id, const std::string& series, Axis axis, SeriesRange range, int width) const;
  std::vector<SeriesPoint> points(const QString& id, const std::string& series) const;
  std::optional<SeriesPoint> pointNear(const QString& id, const std::string& series, std::int64_t step) const;
  std::optional<double> lastValue(const QString& id, const std::string& series) const;
  double xOf(const QString& id, Axis axis, std::int64_t step) const;
  std::int64_t stepOf(const QString& id, Axis axis, double x) const;
  // For whoever paints: any question about a run's curves, answered from memory alone. False where some of them would
  // have to be read; reading() then does so on the thread that calls what it gives: without what was not saved yet, and
  // empty where nothing was. It may outlive the store and throws Error.
  bool askMemory(const QString& id, const CurveQuestion& question) const;
  std::function<void(const CurveQuestion& question)> reading(const QString& id) const;
  void ask(const QString& id, const CurveQuestion& question) const;  // read here and now, where it has to be
  std::int64_t savedVersion(const QString& id) const;                // changes when more of a run was saved
  bool allSaved(const QString& id) const;
  // All events that are no steps, oldest first; at most the newest `limit`.
  std::vector<Event> events(const QString& id, int limit = 1000);
  // Which way the metrics of runs are better, and how they are written.
  const MetricLayers& metrics() const { return m_metrics; }

 Q_SIGNALS:
  void runAdded(const QString& id);
  void runChanged(const QString& id);  // its record
  void runRemoved(const QString& id);
  void pointsAdded(const QString& id);
  void eventsAdded(const QString& id);
  void noticeRaised(const QString& sentence);
  void builtAnew();  // under our hands: all runs are gone from it, and stand in foldersToRead()

 private:
  static constexpr int kPatienceMs = 20;  // of the window's thread with another window that writes
  struct Entry {
    RunRecord record;
    std::int64_t row = 0;           // in the database
    std::int64_t place = 0;         // among all
    std::int64_t offset = 0;        // bytes of the log that were taken
    std::string mark;               // logMark() there
    std::unique_ptr<RunData> data;  // null = not loaded
    std::vector<Event> pending;     // not yet in the database
    std::int64_t used = 0;          // for dropping the least recently used
    std::size_t bytes = 0;          // of its data as they were last counted
    bool dirty = false;
    std::int64_t version = 0;  // of what was saved of it
  };
  struct NotInMemory {};
  void open();
  void readFolders();
  void loadRuns();
  void rebuild(const QString& why);
  // A damaged database is built anew, any other fault becomes a notice; false = the work was not done.
  bool guarded(const std::function<void()>& work);
  // The same for questions, which may be asked while painting: the building anew waits for the event loop.
  template <class Answer, class Question>
  Answer answer(const QString& id, Answer otherwise, const Question& question) const;
  Entry* entry(const QString& id) const;
  RunData& data(Entry& entry) const;
  QByteArray block(std::int64_t series, int level, std::int64_t block) const;
  void flushSome();
  void save(std::vector<Entry*> entries, qint64 forMs);  // at most about so long
  void saveRecord(Entry& entry);
  void saveCurves(Entry& entry);
  void measure(Entry& entry);
  void takeEvent(Entry& entry, const Event& event);
  void trim(Entry& entry) const;  // after its curves were touched
  int freeColour(const QString& project) const;
  void countColour(const RunRecord& run, int by);
  void markDirty(Entry& entry);
  enum class Folder { there, removed };
  bool takeFolder(const QString& folder, Folder what);  // false where that was known
  void noteFolder(const RunRecord& run);
  void saveNotes();
  bool noteMark(const RunRecord& run);  // false where that was known

  QString m_folder, m_file, m_notice;
  QStringList m_folders;             // in folders.txt and not removed, in its order
  QByteArray m_unsavedFolders;       // lines for it
  QSet<QString> m_there, m_removed;  // in folders.txt
  RunMarks m_marks;
  std::unique_ptr<FileLock> m_lock;  // shared with other windows for as long as they have the database open
  std::unique_ptr<Database> m_database;
  bool m_isNew = false;                           // the database was made just now
  std::shared_ptr<CurveReader> m_reader;          // none of a database in memory
  mutable bool m_memoryAlone = false;             // while askMemory() asks
  std::vector<std::unique_ptr<Entry>> m_entries;  // in the order they were added
  QHash<QString, Entry*> m_byId, m_byFolder;
  std::vector<Entry*> m_dirty;                // those that are
  QHash<QString, QHash<int, int>> m_colours;  // by project: how many runs have a colour
  mutable std::size_t m_bytes = 0;            // of all entries
  MetricLayers m_metrics;
  QTimer m_flush;
  mutable std::int64_t m_clock = 0;
};

}  // namespace loom
