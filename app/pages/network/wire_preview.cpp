#include "app/pages/network/wire_preview.h"

#include <QCursor>
#include <QKeyEvent>
#include <QMenu>
#include <algorithm>

#include "app/page.h"
#include "app/pages/network/inspector.h"
#include "app/trained_runs.h"
#include "app/workspace.h"
#include "widgets/canvas/card_content.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/preview/tensor_card.h"

namespace loom {
namespace {

constexpr int kRestMs = 300;   // of the mouse on a wire
constexpr int kLeaveMs = 250;  // to get from the wire to the card
constexpr int kAgainMs = 250;  // after the last change of the drawing
const QString kCardPlace = QStringLiteral("card"), kInspectorPlace = QStringLiteral("inspector"),
              kTracePlace = QStringLiteral("trace");

}  // namespace

WirePreview::WirePreview(AppContext& context, NetworkView& view, Inspector& inspector, QWidget& page)
    : m_context(context),
      m_view(view),
      m_inspector(inspector),
      m_page(page),
      m_card(new TensorCard(&page)),
      m_line(std::make_unique<TensorLine>(QString())) {
  for (const auto& [timer, wait] : {std::pair(&m_rest, kRestMs), {&m_leave, kLeaveMs}, {&m_again, kAgainMs}}) {
    timer->setSingleShot(true);
    timer->setInterval(wait);
  }
  connect(&view, &NetworkView::wireHovered, this, &WirePreview::hovered);
  connect(&m_rest, &QTimer::timeout, this, [this] {
    if (m_waiting && stands(*m_waiting)) open(*m_waiting, m_waitingAt, Pinned::no);
  });
  connect(m_card, &TensorCard::left, &m_leave, qOverload<>(&QTimer::start));
  connect(&m_leave, &QTimer::timeout, this, [this] {
    const bool there = m_card->card().contains(m_page.mapFromGlobal(QCursor::pos()));
    if (!m_card->isPinned() && !there) close();
  });
  connect(m_card, &TensorCard::closeWanted, this, &WirePreview::close);
  connect(m_card, &TensorCard::weightsWanted, this, &WirePreview::chooseWeights);
  connect(&inspector, &Inspector::otherWeightsWanted, this, &WirePreview::chooseWeights);
  connect(&m_card->face(), &TensorFace::startWanted, this, [this] {
    if (m_shown) trace(*m_shown);
  });
  connect(&inspector.tensor(), &TensorFace::startWanted, this, [this] {
    if (m_inspected) trace(*m_inspected);
  });
  connect(&view, &NetworkView::zoomChanged, this, [this] {
    if (!m_card->isPinned()) close();
  });
  ProjectDocument& document = *context.document;
  connect(&document, &ProjectDocument::changed, this, &WirePreview::drawingChanged);
  connect(&document, &ProjectDocument::opened, this, &WirePreview::drawingChanged);
  connect(&view.networkScene(), &NetworkScene::networkSwitched, this, &WirePreview::close);
  connect(&m_again, &QTimer::timeout, this, [this] {
    if (m_shown && stands(*m_shown)) lookAt(kCardPlace, *m_shown, m_card->face());
    m_inspected.reset();
    followInspector();
  });
  connect(&inspector, &Inspector::turned, this, &WirePreview::followInspector);
  connect(m_line.get(), &TensorLine::answered, this, &WirePreview::answered);
  connect(m_line.get(), &TensorLine::refused, this, &WirePreview::refused);
  connect(m_line.get(), &TensorLine::reading, this, [this](const QString& dataset, double share) {
    const QString words =
        share >= 0 ? tr("Reading %1, %2").arg(dataset, percentText(share)) : tr("Reading %1").arg(dataset);
    if (m_shown && m_line->waits(kCardPlace)) m_card->face().setLoading(shapeOf(*m_shown), words);
    if (m_inspected && m_line->waits(kInspectorPlace)) m_inspector.tensor().setLoading(shapeOf(*m_inspected), words);
  });
  view.installEventFilter(this);
}

WirePreview::~WirePreview() = default;

void WirePreview::hovered(NetworkView* canvas, const std::optional<Edge>& wire, QPoint global) {
  if (!wire) {
    m_rest.stop();
    m_waiting.reset();
    if (m_card->isVisible() && !m_leave.isActive()) m_leave.start();
    return;
  }
  NetworkScene* const scene = &canvas->networkScene();
  if (m_card->isVisible() && m_shown && m_shown->is(scene, *wire)) return m_leave.stop();
  m_waitingAt = m_page.mapFromGlobal(global);
  if (m_waiting && m_waiting->is(scene, *wire) && m_rest.isActive()) return;
  m_waiting = Subject{scene, *wire};
  if (!m_card->isPinned()) m_rest.start();
}

void WirePreview::open(const Subject& subject, QPoint onPage, Pinned pinned) {
  m_rest.stop();  // what is opened by a key stays as it is when the mouse has rested long enough
  m_leave.stop();
  m_shown = subject;
  m_card->setPinned(pinned == Pinned::yes);
  lookAt(kCardPlace, subject, m_card->face());
  m_card->openAt(onPage, m_view.geometry());
}

void WirePreview::showSelected() {
  if (m_card->isVisible() && m_card->isPinned()) return close();
  NetworkView& canvas = m_view.inHand();
  NetworkScene& scene = canvas.networkScene();
  std::optional<Edge> edge;
  if (!scene.picked().wires.empty())
    edge = *scene.picked().wires.begin();
  else if (scene.picked().nodes.size() == 1)
    for (const Edge& each : scene.network().edges)
      if (each.from.node == *scene.picked().nodes.begin()) {
        edge = each;
        break;
      }
  if (!edge) return;
  const std::vector<QPointF>& way = scene.wayOf(*edge);
  const QPointF middle = way.empty() ? QPointF() : (way[(way.size() - 1) / 2] + way[way.size() / 2]) / 2;
  const QPoint at = m_page.mapFromGlobal(canvas.viewport()->mapToGlobal(canvas.mapFromScene(middle)));
  open({&scene, *edge}, at, Pinned::yes);
}

void WirePreview::close() {
  m_rest.stop();
  m_leave.stop();
  m_waiting.reset();
  m_shown.reset();
  m_trace.reset();
  m_wanted.erase(kCardPlace);
  m_line->forget(kCardPlace);
  m_card->setPinned(false);
  m_card->hide();
  m_card->face().clear();
}

bool WirePreview::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Hide) close();
  if (event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool plain =
      !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier | Qt::ShiftModifier));
  if (plain && key->key() == Qt::Key_Escape && m_card->isVisible()) return close(), true;
  return false;
}

bool WirePreview::stands(const Subject& subject) const {
  if (!subject.scene) return false;
  const auto& edges = subject.scene->network().edges;
  return std::find(edges.begin(), edges.end(), subject.edge) != edges.end();
}

std::optional<Shape> WirePreview::shapeOf(const Subject& subject) const {
  if (!subject.scene) return {};
  const Node* node = subject.scene->node(subject.edge.from.node);
  const auto facts = subject.scene->analysis().nodes.find(subject.edge.from.node);
  if (node == nullptr || facts == subject.scene->analysis().nodes.end()) return {};
  const std::vector<Port> ports = portsOf(m_context.document->project(), *node).outputs;
  const auto port =
      std::find_if(ports.begin(), ports.end(), [&](const Port& each) { return each.key == subject.edge.from.port; });
  const auto place = static_cast<std::size_t>(port - ports.begin());
  if (port == ports.end() || place >= facts->second.outputs.size()) return {};
  return facts->second.outputs[place];
}

WirePreview::Weights WirePreview::trained() const {
  if (m_context.workspace == nullptr) return {};
  const QList<RunRecord> runs = m_context.workspace->runs();
  for (const RunRecord& each : runs)
    if (each.id == m_chosen && hasWeightsHere(each)) return {each.id, each.folder, each.name};
  const RunRecord* const best = bestTrained(runs, *m_context.runMetrics);
  return best ? Weights{best->id, best->folder, best->name} : Weights{};
}

TensorWish WirePreview::wishOf(const QString& place, const Subject& subject) const {
  const Edge& edge = subject.edge;
  TensorWish wish{.place = place,
                  .drawing = QString::fromStdString(subject.scene->networkName()),
                  .node = QString::fromStdString(edge.from.node),
                  .port = QString::fromStdString(edge.from.port),
                  .to = QString::fromStdString(edge.to.node)};
  const UnitUse& use = subject.scene->use();
  wish.useDrawing = QString::fromStdString(use.drawing);
  wish.useNode = QString::fromStdString(use.node);
  if (!m_initial) wish.run = trained().folder;
  return wish;
}

void WirePreview::lookAt(const QString& place, const Subject& subject, TensorFace& face) {
  const TensorWish wish = wishOf(place, subject);
  const std::optional<Shape> shape = shapeOf(subject);
  face.setLoading(shape);
  if (place == kCardPlace)
    m_card->setWords(tr("%1 to %2").arg(wish.node, wish.to), shape ? shapeText(*shape) : QStringLiteral("?"),
                     tr("first sample"));
  showWeights(place, nullptr);
  m_line->forget(place);
  m_wanted[place] = wish;
  askAll();
}

// The text of a large drawing takes its milliseconds: it is written beside the window.
void WirePreview::askAll() {
  if (!m_stale) {
    for (const auto& [place, wish] : std::exchange(m_wanted, {})) m_line->ask(wish);
    return;
  }
  m_write.ask([this, project = m_context.document->project(),
               folder = m_context.document->folder()](const std::atomic<bool>&) -> NewestTask::Answer {
    QByteArray text;
    try {
      text = QByteArray::fromStdString(writeProject(project));
    } catch (const std::exception&) {
      // An empty text is refused with a sentence.
    }
    return [this, text, folder] {
      m_line->setProject(text, folder);
      m_stale = false;
      askAll();
    };
  });
}

void WirePreview::drawingChanged() {
  m_trace.reset();
  m_stale = true;
  m_write.forget();
  m_line->forget(kCardPlace);
  m_line->forget(kInspectorPlace);
  if (m_shown && !stands(*m_shown)) close();
  if (m_shown) m_card->face().setLoading(shapeOf(*m_shown));
  if (m_shown || m_inspected) m_again.start();
}

void WirePreview::followInspector() {
  const auto wire = m_inspector.wire();
  if (!wire) {
    if (!m_inspected) return;
    m_inspected.reset();
    m_wanted.erase(kInspectorPlace);
    m_line->forget(kInspectorPlace);
    return m_inspector.tensor().clear();
  }
  if (m_inspected && m_inspected->is(wire->first, wire->second)) return;
  m_inspected = Subject{wire->first, wire->second};
  if (stands(*m_inspected)) lookAt(kInspectorPlace, *m_inspected, m_inspector.tensor());
}

void WirePreview::answered(const QString& place, const SeenTensor& seen) {
  if (place == kTracePlace) {
    if (!m_trace || m_trace->left.empty()) return;
    const Edge looked = m_trace->left.back();
    m_trace->left.pop_back();
    return seen.tensor.nan + seen.tensor.infinite > 0 ? traceBehind(looked) : traceNext();
  }
  if (place == kInspectorPlace) {
    if (!m_inspected) return;
    m_inspector.tensor().setTensor(seen.tensor);
  } else {
    if (!m_shown) return;
    m_card->face().setTensor(seen.tensor);
    const QString of = tr("first sample of %1").arg(seen.dataset),
                  wire = QString::fromStdString(m_shown->edge.from.node);
    // Inside a unit or a repeat: which of them this is.
    const QString within =
        seen.pin.contains(QLatin1Char('/')) ? tr(", in %1").arg(seen.pin.section(QLatin1Char('/'), 0, -2)) : QString();
    m_card->setWords(tr("%1 to %2").arg(wire, QString::fromStdString(m_shown->edge.to.node)),
                     shapeText(seen.tensor.shape), of + within);
  }
  showWeights(place, &seen);
}

void WirePreview::refused(const QString& place, const QString& sentence) {
  // What cannot be looked at is passed over.
  if (place == kTracePlace && m_trace && !m_trace->left.empty()) {
    m_trace->left.pop_back();
    return traceNext();
  }
  if (place == kInspectorPlace && m_inspected) m_inspector.tensor().setSentence(sentence);
  if (place == kCardPlace && m_shown) m_card->face().setSentence(sentence);
}

void WirePreview::showWeights(const QString& place, const SeenTensor* seen) {
  const Weights run = trained();
  const bool initial = seen != nullptr ? !seen->trained : m_initial || run.folder.isEmpty();
  QString words = initial ? tr("initial weights") : tr("weights of %1").arg(run.name);
  if (seen != nullptr && seen->trained) {
    words += tr(", step %L1").arg(seen->step);
    if (seen->matched < seen->parameters) words += tr(", %1 of %2 fit").arg(seen->matched).arg(seen->parameters);
  }
  const bool others = !run.folder.isEmpty();
  if (place == kCardPlace)
    m_card->setWeights(words, others);
  else
    m_inspector.setWeights(words, others);
}

void WirePreview::chooseWeights(QWidget* below) {
  const QList<RunRecord> runs = m_context.workspace->runs();
  const RunRecord* const best = bestTrained(runs, *m_context.runMetrics);
  const QString now = m_initial ? QString() : trained().id;
  auto* const menu = new QMenu(&m_page);
  menu->setObjectName(QStringLiteral("weights-menu"));
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const auto add = [&](const QString& words, bool initial, const QString& id, bool isNow) {
    QAction* const action = menu->addAction(words, this, [this, initial, id] {
      m_initial = initial;
      m_chosen = id;
      lookAgain();
    });
    action->setCheckable(true);
    action->setChecked(isNow);
  };
  if (best) add(tr("%1 (best)").arg(best->name), false, best->id, now == best->id);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (hasWeightsHere(*run) && (!best || run->id != best->id)) add(run->name, false, run->id, now == run->id);
  menu->addSeparator();
  add(tr("Initial weights"), true, {}, m_initial);
  menu->popup(below->mapToGlobal(QPoint(0, below->height())));
}

void WirePreview::lookAgain() {
  if (m_shown && stands(*m_shown)) lookAt(kCardPlace, *m_shown, m_card->face());
  if (m_inspected && stands(*m_inspected)) lookAt(kInspectorPlace, *m_inspected, m_inspector.tensor());
}

// Back along the wires to the first one whose values are not finite while all that comes into its node is.
void WirePreview::trace(const Subject& subject) {
  if (!stands(subject)) return;
  m_trace = Trace{subject, {}, {}};
  traceBehind(subject.edge);
}

void WirePreview::traceBehind(const Edge& faulty) {
  m_trace->at.edge = faulty;
  m_trace->left.clear();
  if (m_trace->seen.insert(faulty.from.node).second && m_trace->at.scene)
    for (const Edge& each : m_trace->at.scene->network().edges)
      if (each.to.node == faulty.from.node) m_trace->left.push_back(each);
  traceNext();
}

void WirePreview::traceNext() {
  if (!stands(m_trace->at)) return m_trace.reset();
  if (m_trace->left.empty()) return traceEnds();
  m_wanted[kTracePlace] = wishOf(kTracePlace, {m_trace->at.scene, m_trace->left.back()});
  askAll();
}

void WirePreview::traceEnds() {
  const Subject found = std::exchange(m_trace, {})->at;
  NetworkView* canvas = &m_view;
  while (&canvas->networkScene() != found.scene && canvas->unitView() != nullptr) canvas = &canvas->unitView()->view();
  if (&canvas->networkScene() != found.scene) return;
  close();
  canvas->reveal(found.edge.from.node);
  found.scene->pick({{}, {found.edge}});
  canvas->setFocus(Qt::OtherFocusReason);
  showSelected();
  const QString node = QString::fromStdString(found.edge.from.node);
  canvas->hint().say(tr("It starts in %1: what comes in is finite").arg(node), QPoint(12, 12));
}

}  // namespace loom
