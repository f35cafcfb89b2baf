#pragma once
// What flows where: the mouse resting on a wire, or T with a wire selected, shows its tensor in a card; the inspector
// of a selected wire shows the same. Values are computed by a resident program beside the window (launcher/preview),
// which the first look starts and which ends with this.
#include <QObject>
#include <QPoint>
#include <QPointer>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/preview/tensor_line.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/document/newest_task.h"

namespace loom {

struct AppContext;
class Inspector;
class NetworkView;
class TensorCard;
class TensorFace;

class WirePreview : public QObject {
  Q_OBJECT

 public:
  // `page`: what the card lies on. All outlive this.
  WirePreview(AppContext& context, NetworkView& view, Inspector& inspector, QWidget& page);
  ~WirePreview() override;

  TensorCard& card() const { return *m_card; }
  TensorLine& line() const { return *m_line; }
  // The selected wire, or the first one out of the selected node, pinned; a second time closes it.
  void showSelected();
  void close();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Subject {
    QPointer<NetworkScene> scene;
    Edge edge;
    bool is(const NetworkScene* other, const Edge& wire) const { return scene == other && edge == wire; }
  };
  struct Weights {
    QString id, folder, name;  // empty folder: none
  };
  enum class Pinned { no, yes };
  // On the way back from values that are not finite to where they start: one look after the other.
  struct Trace {
    Subject at;              // the last wire that was found faulty
    std::vector<Edge> left;  // of those that lead to its node, to be looked at
    std::set<std::string> seen;
  };

  void hovered(NetworkView* canvas, const std::optional<Edge>& wire, QPoint global);
  void open(const Subject& subject, QPoint onPage, Pinned pinned);
  void lookAt(const QString& place, const Subject& subject, TensorFace& face);
  void askAll();
  void drawingChanged();
  void followInspector();
  void answered(const QString& place, const SeenTensor& seen);
  void refused(const QString& place, const QString& sentence);
  bool stands(const Subject& subject) const;
  std::optional<Shape> shapeOf(const Subject& subject) const;
  Weights trained() const;  // the chosen run; else the best that has weights here
  void showWeights(const QString& place, const SeenTensor* seen);
  void chooseWeights(QWidget* below);
  void lookAgain();
  TensorWish wishOf(const QString& place, const Subject& subject) const;
  void trace(const Subject& subject);
  void traceBehind(const Edge& faulty);
  void traceNext();
  void traceEnds();

  AppContext& m_context;
  NetworkView& m_view;
  Inspector& m_inspector;
  QWidget& m_page;
  TensorCard* m_card;
  std::unique_ptr<TensorLine> m_line;
  NewestTask m_write;
  bool m_stale = true;                     // the line does not have the drawing as it is
  bool m_initial = false;                  // initial weights, although there are trained ones
  QString m_chosen;                        // the run whose weights were chosen; empty = the best one
  std::map<QString, TensorWish> m_wanted;  // by place: asked as soon as the line has the drawing
  std::optional<Subject> m_shown, m_inspected, m_waiting;
  std::optional<Trace> m_trace;
  QPoint m_waitingAt;
  QTimer m_rest, m_leave, m_again;
};

}  // namespace loom
