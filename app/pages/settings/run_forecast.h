#pragma once
// What the run will take before it starts, and how it scales with ranks of the chosen host's kind up to 4,096: asked of
// `loom advise`, in a process of its own, a moment after the last change, and remembered by what it depends on.
// Window's thread; nothing here waits.
#include <QHash>
#include <QJsonObject>
#include <QTimer>
#include <optional>
#include <vector>

#include "app/pages/settings/project_call.h"

namespace loom {

class ProjectDocument;
class Workspace;

// What `loom advise` is told of the chosen host: its name, ranks, how many share a machine, and its links where these
// were measured.
QStringList hostArguments(Workspace& workspace);

struct ForecastPoint {
  int ranks = 1;
  double batch = 0, step = 0, samplesPerSecond = 0, efficiency = 1;  // step: seconds
  QString reduction;                                                 // in words; empty: one rank sums nothing
};

class RunForecast : public QObject {
  Q_OBJECT

 public:
  RunForecast(ProjectDocument& document, Workspace& workspace, QObject* parent = nullptr);

  // The document, the host or the ranks changed. `steps` of the whole run (0 = not known) change nothing of what is
  // asked.
  void refresh(qint64 ranks, qint64 steps);
  // From 1 rank up, the run's among them; empty: nothing is known.
  const std::vector<ForecastPoint>& curve() const { return m_known.curve; }
  // As it is trained: on the host's own ranks, whatever is virtual.
  const std::optional<ForecastPoint>& run() const { return m_known.run; }
  const ForecastPoint* atRanks() const;         // of the curve, at the run's ranks, virtual ones included
  double runSeconds() const;                    // 0 = not known
  bool isVirtual() const { return m_virtual; }  // some ranks are
  // Of the settings as they are; else what was known before them.
  bool isCurrent() const { return m_known.key == m_key && !m_known.curve.empty(); }
  bool asks() const { return m_soon.isActive() || m_call.runs(); }
  const QString& refusal() const { return m_refusal; }  // why nothing is predicted
  QString host() const;
  bool linksMeasured() const;
  QString sentenceOf(const ForecastPoint& point) const;

  // The newest answer, so that it stands there when the project is opened again.
  QJsonObject saved() const;
  void restore(const QJsonObject& saved);

 Q_SIGNALS:
  void changed();

 private:
  struct Answer {
    QByteArray key;
    std::vector<ForecastPoint> curve;
    std::optional<ForecastPoint> run;
  };
  static Answer answerOf(const QByteArray& key, const Json& last);
  QStringList arguments() const;
  QByteArray keyOf() const;
  void ask();
  void take(const Json& last);

  ProjectDocument& m_document;
  Workspace& m_workspace;
  ProjectCall m_call;
  QTimer m_soon;
  QByteArray m_key, m_asked;  // of what stands there; of what is asked
  Answer m_known;
  QHash<QByteArray, Json> m_answers;
  QList<QByteArray> m_order;  // of m_answers, the oldest first
  QHash<QByteArray, QString> m_refusals;
  QString m_refusal;
  qint64 m_ranks = 1, m_steps = 0;
  bool m_virtual = false;
};

}  // namespace loom
