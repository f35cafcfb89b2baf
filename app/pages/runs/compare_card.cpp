#include "app/pages/runs/compare_card.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "app/layer_records.h"
#include "app/pages/network/recorded_colours.h"
#include "app/pages/network/step_forecast.h"
#include "app/pages/runs/drawing_overlay.h"
#include "app/pages/runs/overlay_view.h"
#include "app/pages/runs/recorded_tools.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "engine/run/run_folder.h"
#include "widgets/canvas/recorded_figures.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kMostRuns = 8;
constexpr int kBesideWidth = 440, kLeastHeight = 480, kNamesRoom = 150;
constexpr std::size_t kMostNodes = 40;  // lines about the networks
const QString kNothing = QStringLiteral("–");

// Layers that not all have, arguments that are not the same, and how many parameters that makes.
template <class Add>
void addNetworks(const std::vector<ComparedRun>& runs, const Add& add) {
  Differences differences;
  for (const ComparedRun& run : runs)
    if (run.network && run.network->isKnown()) differences.add(run.network->values);
  std::vector<std::string> names = networkDifferences(differences);
  const bool some = std::any_of(runs.begin(), runs.end(), [&](const ComparedRun& run) {
    return run.record.parameters != runs.front().record.parameters;
  });
  const auto parameters = [](const ComparedRun& run) {
    return run.record.parameters > 0 ? formatCount(static_cast<double>(run.record.parameters)) : kNothing;
  };
  if (some) add(QObject::tr("Parameters"), parameters, true, true);
  const std::size_t left = names.size() > kMostNodes ? names.size() - kMostNodes : 0;
  names.resize(names.size() - left);
  for (const std::string& name : names) {
    const auto value = [&](const ComparedRun& run) {
      return run.network && run.network->isKnown() ? textOfNetworkValue(run.network->find(name)) : kNothing;
    };
    add(labelOfNetworkValue(name), value, true, true);
  }
  if (left > 0)
    add(
        QObject::tr("and %1 more in the networks").arg(left), [](const ComparedRun&) { return QString(); }, false,
        false);
}

}  // namespace

CompareCard::CompareCard(const std::vector<ComparedRun>& all, const QStringList& keys, const RunMetrics& metrics,
                         ComparedCurves curves, QWidget* window)
    : Popover(window), m_runs(all.begin(), all.begin() + std::min<std::ptrdiff_t>(kMostRuns, std::ssize(all))) {
  setObjectName("compare-card");
  auto* title = new QLabel(all.size() > kMostRuns ? tr("The first %1 of %2 runs").arg(kMostRuns).arg(all.size())
                                                  : counted(std::ssize(m_runs), tr("runs")));
  title->setProperty("kind", "heading");
  contentLayout()->addWidget(title);
  auto* both = new QHBoxLayout;
  both->setSpacing(16);
  both->addWidget(makeTable(keys, metrics, window));
  both->addWidget(makeBeside(std::move(curves)), 1);
  contentLayout()->addLayout(both);
  layOver(1);
}

CompareCard::~CompareCard() = default;

QWidget* CompareCard::makeTable(const QStringList& keys, const RunMetrics& metrics, QWidget* window) {
  const std::vector<ComparedRun>& runs = m_runs;
  auto* inner = new QWidget;
  inner->setProperty("kind", "scrolled");  // on the ground of the card
  auto* grid = new QGridLayout(inner);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(24);
  grid->setVerticalSpacing(6);
  int row = 0;
  const auto add = [&](const QString& name, const std::function<QString(const ComparedRun&)>& text, bool number,
                       bool mark) {
    auto* head = new QLabel(name);
    head->setProperty("kind", "label");
    grid->addWidget(head, row, 0);
    const QString first = text(runs.front());
    for (int i = 0; i < std::ssize(runs); ++i) {
      const QString words = text(runs[static_cast<std::size_t>(i)]);
      auto* cell = new QLabel(words);
      cell->setProperty("kind", mark && words != first ? "warning" : number ? "number" : "");
      cell->setTextFormat(Qt::PlainText);
      if (number) cell->setFont(Theme::of(window).numberFont());
      cell->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
      grid->addWidget(cell, row, i + 1);
    }
    ++row;
  };
  add(
      {}, [](const ComparedRun& run) { return run.record.name; }, false, false);
  add(
      tr("State"), [](const ComparedRun& run) { return stateWords(run.record); }, false, false);
  const auto best = [&](const ComparedRun& run) {
    return !run.best.isEmpty()        ? run.best
           : run.record.bestStep >= 0 ? metrics.text(run.record, run.record.best)
                                      : kNothing;
  };
  add(tr("Best"), best, true, false);
  const auto loss = [](const ComparedRun& run) { return run.record.step > 0 ? formatLoss(run.record.loss) : kNothing; };
  add(tr("Loss"), loss, true, false);
  const auto duration = [](const ComparedRun& run) {
    return run.record.duration > 0 ? formatDuration(run.record.duration) : kNothing;
  };
  add(tr("Duration"), duration, true, false);
  for (const QString& key : keys) {
    const auto setting = [&](const ComparedRun& run) {
      const auto value = run.record.settings.find(key.toStdString());
      return value == run.record.settings.end() ? kNothing : textOfSetting(key, *value);
    };
    add(labelOfSetting(key), setting, true, true);
  }
  addNetworks(runs, add);
  grid->setRowStretch(row, 1);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidget(inner);
  const QSize wanted = inner->sizeHint();
  scroll->setFixedWidth(std::min(wanted.width() + 16, window->width() - kBesideWidth - 120));
  scroll->setFixedHeight(
      std::clamp(wanted.height() + 16, std::min(kLeastHeight, window->height() - 220), window->height() - 220));
  return scroll;
}

QWidget* CompareCard::makeBeside(ComparedCurves curves) {
  auto* beside = new QWidget;
  beside->setFixedWidth(kBesideWidth);
  auto* column = new QVBoxLayout(beside);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  m_axis.setUnit(curves.unit);
  m_axis.setFull(curves.range);
  auto* chart = new LineChart(&m_axis);
  chart->setObjectName("compared-curves");
  chart->setTitle(curves.title);
  chart->setValueKind(curves.value);
  chart->setBetter(curves.better);
  chart->setLineEnds(LineEnds::oneLine);
  PanelMargins margins = chart->margins();
  margins.right = kNamesRoom;
  chart->setMargins(margins);
  chart->setLines(std::move(curves.lines));
  chart->setEmptyText(tr("Nothing was measured yet"));
  column->addWidget(chart, 2);
  m_overlay = new OverlayView;
  m_overlay->setObjectName("compared-drawings");
  if (m_runs.size() > 2) {
    auto* which = new ChoiceField;
    which->setObjectName("compared-with");
    which->setPrefix(tr("%1 →").arg(m_runs.front().record.name));
    for (std::size_t i = 1; i < m_runs.size(); ++i) which->addItem(m_runs[i].record.name);
    connect(which, &QComboBox::activated, this, [this](int index) { layOver(index + 1); });
    column->addWidget(which);
  }
  m_tools = new RecordedTools("compared", tr("what differs"));
  connect(m_tools, &RecordedTools::kindChosen, this, &CompareCard::colour);
  connect(m_tools, &RecordedTools::stepChosen, this, [this](std::int64_t step) {
    m_step = step;
    colour();
  });
  column->addWidget(m_tools);
  column->addWidget(m_overlay, 3);
  return beside;
}

// Read from both folders, beside the window's thread.
void CompareCard::layOver(int second) {
  m_sides = {Side{.run = 0, .project = {}, .steps = {}},
             Side{.run = static_cast<std::size_t>(second), .project = {}, .steps = {}}};
  m_overlay->setFigures({}, {});
  m_tools->hide();
  m_readingRecords.forget();
  const QString first = m_runs.front().record.folder, other = m_runs[m_sides[1].run].record.folder;
  m_reading.ask([this, first, other](const std::atomic<bool>&) -> NewestTask::Answer {
    std::array<std::shared_ptr<const Project>, 2> projects;
    DrawingOverlay overlay;
    QString fault;
    try {
      projects = {std::make_shared<const Project>(projectOfRun(first)),
                  std::make_shared<const Project>(projectOfRun(other))};
      overlay = overlayOf(*projects[0], *projects[1]);
    } catch (const std::exception& error) {
      fault = QString::fromStdString(error.what());
    }
    return [this, projects, overlay = std::move(overlay), fault] {
      if (!fault.isEmpty()) return m_overlay->setMessage(tr("The drawings cannot be compared: %1").arg(fault));
      for (std::size_t i = 0; i < m_sides.size(); ++i) m_sides[i].project = projects[i];
      m_overlay->setOverlay(overlay);
      readRecords();
    };
  });
}

// What they recorded of their layers stands in their logs, which may be long: the drawings do not wait for it.
void CompareCard::readRecords() {
  std::array<QString, 2> folders;
  for (std::size_t i = 0; i < m_sides.size(); ++i)
    if (const RunRecord& run = m_runs[m_sides[i].run].record; LayerRecords::records(run)) folders[i] = run.folder;
  if (folders[0].isEmpty() && folders[1].isEmpty()) return;
  m_readingRecords.ask([this, folders](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    std::array<std::vector<RecordedStep>, 2> steps;
    for (std::size_t i = 0; i < folders.size() && !outdated; ++i) {
      if (folders[i].isEmpty()) continue;
      try {
        RecordedSteps reader(RunFolder{folders[i].toStdString()}.eventsFile());
        reader.read();
        steps[i] = reader.steps();
      } catch (const std::exception&) {
        // A log that is gone tells nothing: this side stays without colours.
      }
    }
    return [this, steps = std::move(steps)] {
      m_step = 0;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        m_sides[i].steps = steps[i];
        if (!steps[i].empty()) m_step = std::max(m_step, steps[i].back().step);
      }
      m_tools->setVisible(!steps[0].empty() || !steps[1].empty());
      colour();
    };
  });
}

RecordedFigures CompareCard::figuresOf(const Side& side) const {
  if (!side.project || side.steps.empty()) return {};
  const std::string drawing =
      side.project->training.updates.empty() ? "main" : side.project->training.updates.front().network;
  return recordedFiguresOf(*side.project, {.drawing = drawing, .through = {}}, side.steps,
                           recordedAt(side.steps, m_step), m_runs[side.run].record.name);
}

// Both in one scale: the left half of a card is the first run's, the right half the other's. Of one that is longer the
// last that the other recorded stands beside it.
void CompareCard::colour() {
  const std::optional<CostKind> kind = m_tools->kind();
  std::set<std::int64_t> steps;
  for (const Side& side : m_sides)
    for (const RecordedStep& each : side.steps) steps.insert(each.step);
  if (!kind || steps.empty()) {
    m_tools->setScale({}, {});
    m_tools->setSteps({}, 0);
    return m_overlay->setFigures({}, {});
  }
  const std::array<RecordedFigures, 2> figures{figuresOf(m_sides[0]), figuresOf(m_sides[1])};
  const std::size_t of = recordedIndex(*kind);
  const CostScale scale(*kind, std::max(figures[0].largest[of], figures[1].largest[of]));
  RecordedTools::Cards cards{};
  QHash<QString, NodeFigure> nodes;
  for (const OverlayNode& node : m_overlay->overlay().nodes) {
    std::array<int, 2> colours{CostScale::kNone, CostScale::kNone};
    std::array<QString, 2> texts;
    QStringList words;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const auto found = figures[i].nodes.find(node.id.toStdString());
      if (found == figures[i].nodes.end()) continue;
      colours[i] = scale.stepOf(found->second.values[of]);
      texts[i] = found->second.cards[of];
      words << tr("%1, step %L2").arg(figures[i].run).arg(figures[i].step) << found->second.words;
      if (colours[i] >= 0) ++cards[static_cast<std::size_t>(colours[i])];
    }
    if (colours[0] < 0 && colours[1] < 0) continue;
    NodeFigure figure{colours[1], {}, words.join('\n')};
    const auto text = [&](std::size_t side) { return texts[side].isEmpty() ? kNothing : texts[side]; };
    figure.card = text(0) + QStringLiteral(" | ") + text(1);
    figure.before = colours[0];
    nodes.insert(node.id, figure);
  }
  const QString name = costName(*kind);
  m_overlay->setFigures(std::move(nodes), scale.isEmpty() ? tr("No layer of these runs has any %1").arg(name)
                                                          : tr("%1 at step %L2: %3 | %4")
                                                                .arg(name.left(1).toUpper() + name.mid(1))
                                                                .arg(m_step)
                                                                .arg(m_runs[m_sides[0].run].record.name,
                                                                     m_runs[m_sides[1].run].record.name));
  m_tools->setScale(scale, cards);
  m_tools->setSteps({steps.begin(), steps.end()}, m_step);
}

}  // namespace loom
