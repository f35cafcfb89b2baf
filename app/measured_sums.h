#pragma once
// How fast the ranks of a host add up, by way and size, and its links, as `loom bench allreduce --json` measured them:
// kept with the preferences for the set of machines that it was measured on. No widgets.
#include <QJsonObject>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "engine/base/json_fwd.h"

namespace loom {

struct Host;
class Preferences;

struct MeasuredLink {
  double delay = 0, bandwidth = 0;  // seconds of the smallest message; bytes a second; one way
};

// One way of adding up, over sizes.
struct SumCurve {
  struct Point {
    double bytes = 0, seconds = 0;
  };
  QString name, label;        // "halving_doubling", "Halving and doubling"
  std::vector<Point> points;  // sizes rising
};

// Where another way becomes the fastest.
struct SumCrossing {
  double bytes = 0;
  QString from, to;  // labels
};

class MeasuredSums {
 public:
  int ranks = 0, perHost = 0, sizes = 0;  // sizes: that are to be measured
  double at = 0;                          // seconds since 1970; 0 = not all was measured
  QString machines;                       // machinesOf() the host then
  std::optional<MeasuredLink> within, between;
  std::vector<SumCurve> curves;

  // A line of the sweep; what is none, or no number that can be, is passed over.
  void take(const Json& line);
  int taken() const;     // measurements so far
  int expected() const;  // of the whole sweep; 0 = not known yet
  std::vector<SumCrossing> crossings() const;
  // As nccl-tests count: what a ring would put through each link in that time.
  double busBandwidth(const SumCurve::Point& point) const;
};

// By what a measurement is known to be of the host as it is now. `host` null: this machine.
QString machinesOf(const Host* host);

MeasuredSums keptSums(const Preferences& preferences, const QString& host);
void keepSums(Preferences& preferences, const QString& host, const MeasuredSums& sums);

// For `loom advise` and `loom plan`: "--within US MBIT_S --between ..."; none where nothing was measured on these
// machines.
QStringList linkArguments(const Preferences& preferences, const QString& id, const Host* host);

}  // namespace loom
