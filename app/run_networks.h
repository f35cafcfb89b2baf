#pragma once
// The drawings that runs were trained with, as their folders have them: read beside the window's thread, some at a
// time, and kept once for all runs that have the same one.
#include <QHash>
#include <QObject>
#include <QStringList>
#include <memory>
#include <unordered_map>

#include "app/differences.h"
#include "launcher/store/run_record.h"
#include "widgets/document/newest_task.h"

namespace loom {

// The network as it runs, units and repeats written out: "conv1" -> its layer, "conv1\tchannels" -> 8, every field of
// every node, and "" -> how all is wired. Where nothing could be read it is empty.
struct RunNetwork {
  NamedValues values;
  std::unordered_map<std::string, std::size_t> places;  // of names in `values`
  QByteArray drawing;  // one for each drawing, where nodes stand on the canvas left out
  QByteArray data;     // one for each way of reading data

  bool isKnown() const { return !values.empty(); }
  const NamedValue* find(const std::string& name) const;
};

// Throws Error where the folder does not tell.
RunNetwork readRunNetwork(const QString& folder);

// "conv1 channels": as a person reads a name of a RunNetwork.
QString labelOfNetworkValue(const std::string& name);
QString textOfNetworkValue(const NamedValue* value);  // "8", "Convolution", "–" for what is not there
// Names worth a line of their own: of a node that not all have, its fields say nothing more; how all is wired only
// where nothing else differs.
std::vector<std::string> networkDifferences(const Differences& differences);
// "conv1 channels 8, without bn1": where this one is not as others; of more than a few names only where it is not as
// the one that most runs have ("as most"), if there is such.
QString describeNetwork(const RunNetwork& network, const std::vector<std::string>& names,
                        const RunNetwork* most = nullptr);

class RunNetworks : public QObject {
  Q_OBJECT

 public:
  explicit RunNetworks(QObject* parent = nullptr);
  // Null = not read yet; unknown where it cannot be read.
  std::shared_ptr<const RunNetwork> find(const QString& run) const { return m_known.value(run); }
  void want(const QString& run, const QString& folder);  // told by read()
  bool busy() const { return m_task.busy(); }

 Q_SIGNALS:
  void read(const QStringList& runs);

 private:
  struct Wish {
    QString run, folder;
  };
  struct Answer {
    QString run;
    std::shared_ptr<const RunNetwork> network;
  };
  void readSome();

  QHash<QString, std::shared_ptr<const RunNetwork>> m_known;
  QHash<QByteArray, std::shared_ptr<const RunNetwork>> m_shared;
  QList<Wish> m_wanted;
  NewestTask m_task;
};

}  // namespace loom
