#pragma once
// The line to a resident `loom agent` of this machine that tells what flows along a wire (its verb `tensor`). The
// program is started by the first question, kept for the next ones, started again by a question after it ended, and
// ends with this. Nothing here waits: an answer is a signal. Window's thread.
#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>

#include "engine/base/json_fwd.h"
#include "engine/program/tensor_summary.h"
#include "launcher/ssh/byte_channel.h"

namespace loom {

class AgentClient;

struct TensorWish {
  QString place;                // who shows it: a newer wish for the same place makes this one void
  QString drawing;              // network or unit
  QString node, port;           // where the wire begins
  QString to;                   // the node where it ends
  QString useDrawing, useNode;  // which use of a unit; empty = the first
  QString run;                  // folder of the run whose weights are wanted; empty = initial ones
  qint64 sample = 0;
};

struct SeenTensor {
  TensorSummary tensor;
  QString network, pin;  // of the network that runs: "stage1/0/conv_a"
  QString dataset;
  qint64 sample = 0, samples = 0;
  bool trained = false;
  qint64 step = 0;                     // of the checkpoint
  qint64 matched = 0, parameters = 0;  // of the weights, those that the checkpoint has
};

class TensorLine : public QObject {
  Q_OBJECT

 public:
  using Start = std::function<std::unique_ptr<ByteChannel>()>;  // throws Error

  // `program`: `loom`; empty = looked for when it is first needed.
  explicit TensorLine(const QString& program, QObject* parent = nullptr);
  explicit TensorLine(Start start, QObject* parent = nullptr);
  ~TensorLine() override;

  // What further wishes are about; sent with the next one.
  void setProject(const QByteArray& text, const QString& folder);
  void ask(const TensorWish& wish);
  void forget(const QString& place);  // no answer is wanted any more
  bool waits(const QString& place) const { return m_asked.contains(place); }
  bool runs() const { return m_client != nullptr; }
  void setPatience(int milliseconds) { m_patience.setInterval(milliseconds); }  // without a sign of life of a question

 Q_SIGNALS:
  void answered(const QString& place, const loom::SeenTensor& seen);
  void refused(const QString& place, const QString& sentence);
  void reading(const QString& dataset, double share);  // it is read for the first time; -1: how much cannot be told

 private:
  bool start();
  void take(const QString& place, int number, const Json& header, const QByteArray& bytes);
  void told(const Json& header);
  void fail(const QString& sentence);  // of all that waits

  Start m_start;
  std::unique_ptr<AgentClient> m_client;
  QByteArray m_text;
  QString m_folder;
  int m_project = 0, m_sent = 0;  // numbers of the text that holds, and of the one that the agent has
  int m_last = 0;
  QHash<QString, int> m_asked;  // number of the newest question by place
  QTimer m_patience;
};

}  // namespace loom
