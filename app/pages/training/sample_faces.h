#pragma once
// What the samples of an evaluation look like: pictures, or the first columns of a row. The data are opened and read
// beside the window; where they are not there any more, there are no faces. Window's thread.
#include <QList>
#include <QObject>
#include <memory>
#include <optional>

#include "engine/data/dataset.h"
#include "engine/evaluation/report.h"
#include "launcher/store/run_record.h"
#include "widgets/document/background.h"
#include "widgets/evaluation/sample_cards.h"

namespace loom {

class SampleFaces : public QObject {
  Q_OBJECT

 public:
  explicit SampleFaces(QObject* parent = nullptr) : QObject(parent) {}
  ~SampleFaces() override { close(); }

  void open(const EvaluationReport& report, const RunRecord& run);
  void close();
  void ask(const QList<qint64>& samples);  // answered one by one, in any order

 Q_SIGNALS:
  void known(qint64 sample, const loom::SampleFace& face);

 private:
  void read(const QList<qint64>& samples);
  std::optional<Background<SampleFaces>> m_work;
  std::shared_ptr<const Dataset> m_data;
  std::string m_input, m_target;
  std::vector<Json> m_prepare;
  QList<qint64> m_waiting;
};

}  // namespace loom
