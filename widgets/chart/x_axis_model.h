#pragma once
// The x axis that the panels of a page share: its unit, what of it is seen, the cursor, and the clock by which all
// panels draw in the same frame, at most thirty times a second.
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <optional>

#include "widgets/chart/series_source.h"
#include "widgets/chart/ticks.h"

namespace loom {

class XAxisModel : public QObject {
  Q_OBJECT

 public:
  explicit XAxisModel(QObject* parent = nullptr);

  XUnit unit() const { return m_unit; }
  QString title() const;                                  // what it counts: "Epoch"
  QString label(double x) const;                          // an x as the cursor says it
  QString tickLabel(double x, const Ticks& ticks) const;  // and as it stands under the axis
  void setUnit(XUnit unit);                               // forgets the zoom
  bool isLogarithmic() const { return m_log; }
  void setLogarithmic(bool on);

  // All that there is or is planned; what is seen follows it until a person zooms.
  Interval full() const { return m_full; }
  void setFull(Interval full);
  Interval visible() const { return m_visible; }
  bool isFollowing() const { return m_following; }
  void follow();  // back to everything
  void zoom(double factor, double around);
  void pan(double by);
  void show(Interval range);  // a range that was dragged

  // How far the live run is; what is beyond is still to come. Nothing: no run is live.
  std::optional<double> liveEdge() const { return m_liveEdge; }
  void setLiveEdge(std::optional<double> x, bool connected = true);
  bool isConnected() const { return m_connected; }

  std::optional<double> cursor() const { return m_cursor; }
  void setCursor(std::optional<double> x);
  bool isPinned() const { return m_pinned; }
  void setPinned(bool pinned);

  // 0 to 1 across the frame, and back.
  double place(double x) const;
  double xAt(double place) const;

  void requestFrame();  // something new is to be drawn; frame() follows within a thirtieth of a second
  // For those who draw with frame(). Where it has taken long enough they put it off: it goes on when the window has had
  // its turn, for them alone.
  bool isFrameSpent() const;
  void putOff();
  bool isFrameGoingOn() const { return m_continues; }

 Q_SIGNALS:
  void changed();  // unit, range, live edge
  void cursorChanged();
  void followingChanged(bool following);
  void frame();

 private:
  void setVisible(Interval range);
  XUnit m_unit = XUnit::step;
  bool m_log = false;
  Interval m_full{0, 1};
  Interval m_visible{0, 1};
  bool m_following = true;
  std::optional<double> m_liveEdge;
  bool m_connected = true;
  std::optional<double> m_cursor;
  bool m_pinned = false, m_continues = false, m_putOff = false;
  QTimer m_clock;
  QElapsedTimer m_sinceFrame;
  qint64 m_frameCost = 0;  // milliseconds that the last frame took: where that is much, frames are rarer
};

}  // namespace loom
