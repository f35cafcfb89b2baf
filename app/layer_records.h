#pragma once
// What runs of the open project recorded of their layers (setting `record_layers`), and at which step it is looked at:
// one cursor for the canvas and the run's page. Read beside the window's thread, again when the run told more.
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <vector>

#include "engine/run/layer_record.h"
#include "widgets/document/newest_task.h"

namespace loom {

class Workspace;
struct RunRecord;

// The recorded step at `step` or before it, else the first; null where none was recorded. `steps` are ascending.
const RecordedStep* recordedAt(const std::vector<RecordedStep>& steps, std::int64_t step);

class LayerRecords : public QObject {
  Q_OBJECT

 public:
  using Steps = std::shared_ptr<const std::vector<RecordedStep>>;
  // The workspace's own, made when it is first asked for.
  static LayerRecords& of(Workspace& workspace);

  static bool records(const RunRecord& run);  // its settings say so
  // The run of the Training page where it records, else the newest of the project that does; empty: none.
  QString runToShow() const;
  void watch(const QString& run);  // reads it; empty: none
  const QString& run() const { return m_run; }
  const Steps& steps() const { return m_steps; }  // of run(), ascending; never null
  bool reading() const { return m_task.busy(); }
  // The recorded step that is shown: the newest until another is chosen; null where there is none.
  const RecordedStep* shown() const;
  void setStep(std::int64_t step);  // the recorded one at it or before it

 Q_SIGNALS:
  void changed();      // other steps
  void stepChanged();  // another is shown

 private:
  explicit LayerRecords(Workspace& workspace);
  void read();
  Workspace& m_workspace;
  QString m_run;
  Steps m_steps = std::make_shared<std::vector<RecordedStep>>();
  std::shared_ptr<RecordedSteps> m_reader;  // the task's while it is busy
  std::int64_t m_step = -1;                 // -1: the newest
  QTimer m_soon;
  NewestTask m_task;
};

}  // namespace loom
