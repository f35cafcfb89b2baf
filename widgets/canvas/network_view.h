#pragma once
// The canvas: looks at a NetworkScene and turns mouse and keys into edits of the document. All gestures are here; what
// they do to the drawing is the document's business.
#include <QGraphicsView>
#include <QPixmap>
#include <QPointer>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "widgets/canvas/network_scene.h"
#include "widgets/document/network_edits.h"

class QMenu;

namespace loom {

class AddMenu;
class ArrangingBar;
class CanvasHint;
class Commands;
class EmptyCanvas;
class CommentEditor;
class CostLegend;
class FaultBubble;
class InlineName;
class MiniMap;
class OwnLayers;
class SelectionBar;
class UnitView;

inline constexpr char kLayerMime[] = "application/x-gradloom-layer";  // the catalogue id of a layer, from the palette
inline constexpr char kNodesMime[] = "application/x-gradloom-nodes";
inline constexpr double kWireReach = 7;  // so near a wire is meant, in device-independent pixels

class NetworkView : public QGraphicsView {
  Q_OBJECT
 public:
  explicit NetworkView(NetworkScene& scene, QWidget* parent = nullptr);
  ~NetworkView() override;

  NetworkScene& networkScene() const { return m_scene; }
  double zoom() const { return transform().m11(); }
  void setZoom(double zoom, std::optional<QPointF> keepAtViewport = {});
  void setWheelZooms(bool zooms) { m_wheelZooms = zooms; }  // false: the wheel scrolls, with Ctrl it zooms
  void zoomBy(double factor) { setZoom(zoom() * factor); }
  void fit();  // all cards, at most 100 %
  void fitSelection();
  void reveal(const std::string& node);  // selects, and scrolls there unless it is in sight
  void previousView();

  // Adds a layer after the selected node, wired; else in the middle of what is seen. As the palette's double click
  // does.
  std::string addLayer(const std::string& layer);
  void openAddMenu();  // at the pointer, or in the middle
  // A layer, a unit of the project, or a layer of one's own, which then becomes a unit of the project in the same step.
  std::string add(AddRequest request);
  void setOwnLayers(OwnLayers* own);
  void arrange();
  void alignSelection(Qt::Alignment where);  // left, right, top, bottom, either centre
  void distributeSelection(Qt::Orientation along);
  // Units, groups, comments. What asks for a name asks for it on the canvas, and does nothing before it has one.
  void makeUnit();
  void makeGroup();
  void makeRepeat();
  void ungroup();  // the picked groups, or units, into their place
  void toggleFold();
  void toggleInPlace();  // the picked unit, opened beside it, or closed
  void editComment(const std::string& id);
  void addComment();  // at the pointer, or in the middle
  void nameGroup(const std::string& id);
  // Inside another canvas: no map, no dots, nothing that teaches.
  void setEmbedded(bool embedded);
  bool embedded() const { return m_embedded; }
  // The canvas that has the selection in hand: this one, or that of a unit opened in place.
  NetworkView& inHand();
  void copy();
  void cut();
  void paste();
  void duplicate();
  void removeSelection(bool heal);
  void selectAll();
  void invertSelection();
  void moveSelection(QPointF direction, double step);  // where nothing is selected, what is seen
  bool walk(Qt::Key arrow);  // down and up along wires, left and right to the nearest card beside
  void beginKeyWire();
  void editPicked();  // the first field of a node, a unit's tab, a group's name, a comment
  void renamePicked();
  void tintPicked(const std::string& colour);  // the one group or comment
  const Node* pickedUnit() const;              // the one use of a unit that is selected alone; else null
  // Where keys and menus look commands up: the window's. A canvas alone has them in a registry of its own.
  void setCommands(Commands& commands);
  Commands& commands();
  void setMapShown(bool shown);
  bool mapShown() const { return m_mapShown; }

  AddMenu& addMenu() const { return *m_addMenu; }
  CanvasHint& hint() const { return *m_hint; }
  FaultBubble& faultBubble() const { return *m_bubble; }
  bool coversCards(const QRect& place) const;  // of the viewport
  // Cards, a frame or a wire are in the hand.
  bool isDragging() const {
    return m_wiring || m_gesture == Gesture::move || m_gesture == Gesture::band || m_gesture == Gesture::resize;
  }
  ArrangingBar& arrangingBar() const { return *m_arranging; }
  EmptyCanvas& emptyCanvas() const { return *m_empty; }
  InlineName& nameField() const { return *m_name; }
  CommentEditor& commentEditor() const { return *m_commentEditor; }
  SelectionBar& selectionBar() const { return *m_bar; }
  CostLegend& costLegend() const { return *m_legend; }
  UnitView* unitView() const { return m_unitView; }  // null while none has been opened

 Q_SIGNALS:
  void zoomChanged(double zoom);
  void editRequested();     // Enter: the first field of the selected node
  void renameRequested();   // F2, double click
  void paletteRequested();  // the key /
  void startFromDataRequested();
  void openSampleRequested();
  void tabRequested(const QString& unit);  // Enter on a unit
  void inHandChanged();                    // another canvas has the selection now
  // The pointer is on a wire of this canvas, or no longer on any.
  void wireHovered(loom::NetworkView* canvas, const std::optional<loom::Edge>& wire, QPoint global);
  void ownLayerRenamed(const QString& layer, const QString& unit);  // it came under a name that was free

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void paintEvent(QPaintEvent* event) override;
  void drawBackground(QPainter* painter, const QRectF& rect) override;
  void drawForeground(QPainter* painter, const QRectF& rect) override;
  void focusOutEvent(QFocusEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  enum class Gesture { none, press, move, band, wire, pan, resize };
  // A wire on its way from a pin to the pointer, or by keys to one of `choices`.
  struct Wiring {
    PinHit from;
    std::optional<Edge> taken;  // an existing wire whose end is in the hand
    QPointF end;
    std::optional<PinHit> target;
    std::vector<PinHit> choices;  // by keys
    std::size_t choice = 0;
    bool byKeys = false;
    std::shared_ptr<const WireRules> rules;  // of the drawing as it was when the wire began: an edit ends it
  };

  void beginWire(const PinHit& pin);
  void moveWire(QPointF at);
  void dropWire();
  void endWire();
  void finishWire(const PinHit& target);
  bool keyWire(QKeyEvent* event);
  std::optional<PinHit> wireTarget(QPointF at) const;
  Edge wireEdge(const PinHit& target) const;
  QPainterPath wirePreview() const;

  bool pressGroup(QPointF at, bool add);
  bool pressComment(QPointF at, bool add);
  bool doubleClickGroup(QPointF at);
  void fillMenu(QMenu& menu);
  void fillGroupMenu(QMenu& menu);
  void resizeComment(QPointF at);
  std::string joinedGroup() const;  // the frame that the dragged nodes lie in now, none of theirs
  QRect nameRect(const QRectF& scene) const;
  void layDown();
  void layDown(const QRect& pixels);
  QColor groundColour() const;
  void drawDots(QPainter& painter, const QRectF& area);
  void drawWedge(QPainter* painter) const;
  void openInPlace(const std::string& use);

  void beginMove();
  void moveBy(QPointF delta);
  void finishMove();
  void finishBand();
  void cancelGesture();
  void hover(QPointF viewport);
  std::optional<Edge> flowAt(QPointF at) const;  // the wire whose tensor is meant
  std::optional<PinHit> pinUnder(QPointF at) const;
  void nudge(QPointF delta);
  QString commandOf(const QKeyEvent& event);  // id; empty where no command of the canvas or its page has these keys
  NodePorts portsOfLayer(const std::string& layer) const;  // of a node that it would become
  std::optional<Edge> wireUnder(QPointF at, const std::string& layer) const;

  // `after`: the node that the layer follows, whose kind says what is likely.
  void offerLayers(QPoint viewport, const std::string& after, const std::function<bool(const Entry&)>& fits,
                   const std::function<void(const std::string&)>& chosen);
  void remember();
  void placeOverlays();
  void announce();
  QPointF middle() const;

  NetworkScene& m_scene;
  Gesture m_gesture = Gesture::none;
  QPoint m_pressed;  // viewport
  QPointF m_pressedScene;
  std::string m_pressedNode;
  Picked m_before;  // selection when a band began
  QRectF m_band;
  std::string m_pressedGroup, m_pressedComment;
  std::optional<Comment> m_resized;  // a comment while its corner is dragged
  std::optional<QRectF> m_asked;     // what is being named, dashed
  std::map<std::string, QPointF> m_movingFrom;
  std::optional<Wiring> m_wiring;
  std::optional<Edge> m_dropEdge;
  std::optional<QRectF> m_dropGhost;
  bool m_spaceHeld = false, m_spaceUsed = false, m_spaceOpens = false, m_mapShown = true;
  bool m_wheelZooms = true;
  std::string m_revealed;       // what was led to, until a person moves the view
  bool m_fitted = false;        // shows all cards, and nobody has zoomed or panned since
  bool m_fittedBeside = false;  // the legend of costs, when they last were
  int m_nudges = 1, m_pastes = 0;
  std::vector<std::pair<QPointF, double>> m_views;
  AddMenu* m_addMenu;
  CanvasHint* m_hint;
  FaultBubble* m_bubble;
  EmptyCanvas* m_empty;
  MiniMap* m_map;
  InlineName* m_name;
  CommentEditor* m_commentEditor;
  SelectionBar* m_bar;
  CostLegend* m_legend;
  UnitView* m_unitView = nullptr;
  std::vector<Entry> m_units;  // of the project and of the person, as the add menu shows them
  QPointer<OwnLayers> m_ownLayers;
  bool m_embedded = false;
  QPointer<Commands> m_commands;
  std::optional<QPoint> m_menuAt;  // viewport: where the context menu that is open was asked for
  ArrangingBar* m_arranging;
  QPixmap m_dots;  // one of the grid
  double m_dotsCell = 0, m_dotsRatio = 0;
  QColor m_dotsColour;
  static constexpr std::size_t kNotLaid = static_cast<std::size_t>(-1);
  QPixmap m_laid;  // the drawing as it was seen last, and of what it is the picture
  std::size_t m_laidOf = kNotLaid;
  double m_laidZoom = 0;
  QPointF m_laidAt;
  QColor m_laidGround;
};

}  // namespace loom
