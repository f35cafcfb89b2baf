#include "app/pages/training/run_large_batch.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/headed_card.h"
#include "app/pages/training/large_batch_parts.h"
#include "app/pages/training/rank_bars.h"
#include "app/store_series.h"
#include "engine/planner/critical_batch.h"
#include "launcher/store/run_store.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"

namespace loom {
namespace {

constexpr int kPointsMs = 250, kChartsBeside = 760, kLeastCharts = 480, kRatioRows = 9, kBucketRows = 7, kTableRow = 24;
constexpr int kNoiseColour = 2, kRatioColour = 0, kLeastColour = 1, kScaleColour = 3;
constexpr const char* kLeastRatio = "step.trust_ratio_least";
constexpr const char* kMedianRatio = "step.trust_ratio_median";

// So high that so many rows stand there; more of them scroll.
void keepTableRows(QTableWidget& table, int most) {
  const int rows = std::clamp(table.rowCount(), 1, most);
  table.setFixedHeight(table.horizontalHeader()->sizeHint().height() + rows * kTableRow + 4);
}

QLabel* wordsOn(HeadedCard& card, const char* name) {
  auto* label = makeLabel("field", {}, nullptr, Wrap::yes);
  label->setObjectName(name);
  card.column().addWidget(label);
  return label;
}

Button* linkOn(HeadedCard& card, const char* name, const QString& text) {
  auto* link = new Button(text, ButtonKind::link);
  link->setObjectName(name);
  card.column().addWidget(link, 0, Qt::AlignLeft);
  return link;
}

}  // namespace

RunLargeBatch::RunLargeBatch(AppContext& context, QWidget* parent)
    : QScrollArea(parent), m_context(context), m_batch(std::make_shared<VectorSource>()), m_stack(new ChartStack) {
  setObjectName("large-batch");
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::NoFocus);
  makeCharts();
  auto* inside = new QWidget;
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_across = new QBoxLayout(QBoxLayout::LeftToRight);
  m_across->setSpacing(0);
  auto* charts = new QVBoxLayout;
  charts->setContentsMargins(12, 4, 8, 4);
  charts->addWidget(m_stack);
  m_across->addLayout(charts, 3);
  m_across->addWidget(makeSide(), 2);
  column->addLayout(m_across, 1);
  column->addWidget(hairline());
  column->addWidget(makeBuckets());
  setWidget(inside);
  inside->setAutoFillBackground(false);
  viewport()->setAutoFillBackground(false);
  m_soon.setSingleShot(true);
  m_soon.setInterval(kPointsMs);
  connect(&m_soon, &QTimer::timeout, this, &RunLargeBatch::showPoints);
  setRun({});
}

void RunLargeBatch::makeCharts() {
  m_noise = m_stack->addPanel(tr("Noise scale"), tr("samples, against the batch in use"), 14);
  m_ratio = m_stack->addPanel(tr("Trust ratio"), tr("over all layers"), 12);
  m_scale = m_stack->addPanel(tr("Loss scale"), {}, 9);
  m_noise->setObjectName("noise-chart");
  m_scale->setObjectName("loss-scale-chart");
  for (LineChart* each : {m_noise, m_ratio, m_scale}) {
    each->setLogarithmic(true);
    each->setValueKind(each == m_scale ? ValueKind::plain : ValueKind::rate);
  }
  m_stack->setMinimumHeight(kLeastCharts);
  m_stack->setCaption([](double x) { return ChartStack::Caption{tr("Step %1").arg(formatCount(std::round(x))), {}}; });
}

QWidget* RunLargeBatch::makeSide() {
  auto* side = new QWidget;
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* noise = new HeadedCard(tr("Twice the ranks"));
  auto* figures = new QHBoxLayout;
  figures->setSpacing(6);
  m_noiseFigure = new QLabel;
  m_noiseFigure->setObjectName("live-noise");
  keepFont(m_noiseFigure, FontRole::title, Face::numbers, 600);
  m_noiseUnit = makeLabel("hint");
  figures->addWidget(m_noiseFigure, 0, Qt::AlignBaseline);
  figures->addWidget(m_noiseUnit, 0, Qt::AlignBaseline);
  figures->addStretch();
  noise->column().addLayout(figures);
  m_noiseWords = wordsOn(*noise, "live-noise-words");
  m_watch = linkOn(*noise, "watch-gradients", tr("Watch gradients in the next run"));
  connect(m_watch, &Button::clicked, this, [this] { openSetting("training.watch_gradients"); });
  auto* waits = new HeadedCard(tr("Time of a step"));
  m_waitHint = wordsOn(*waits, "wait-words");
  waits->column().addWidget(m_waitBar = new WaitBar);
  waits->column().addWidget(m_ranks = new RankCard);
  m_ranks->setObjectName("ranks-of-step");
  m_ranks->hide();
  auto* ratios = new HeadedCard(tr("Trust ratio by layer"));
  m_ratioHint = wordsOn(*ratios, "ratio-words");
  m_rule = linkOn(*ratios, "choose-rule", tr("Choose another rule"));
  connect(m_rule, &Button::clicked, this, [this] { openSetting("training.optimizer.name"); });
  ratios->column().addWidget(m_ratios = new RatioTable(*m_context.theme));
  m_ratios->setObjectName("ratio-table");
  auto* magnitudes = new HeadedCard(tr("Size of gradients"));
  m_magnitudeWords = wordsOn(*magnitudes, "magnitude-words");
  magnitudes->column().addWidget(m_magnitudes = new MagnitudeBars);
  m_magnitudes->setObjectName("magnitude-bars");
  bool first = true;
  for (QWidget* each : std::initializer_list<QWidget*>{noise, waits, ratios, magnitudes}) {
    if (!std::exchange(first, false)) column->addWidget(hairline());
    column->addWidget(each);
  }
  column->addStretch();
  return side;
}

QWidget* RunLargeBatch::makeBuckets() {
  auto* card = new HeadedCard(tr("Exchange by bucket"));
  m_showBuckets = card->addButton("show-buckets", tr("Show buckets"));
  m_bucketWords = wordsOn(*card, "bucket-words");
  card->column().addWidget(m_buckets = new BucketTable(*m_context.theme));
  m_buckets->setObjectName("bucket-table");
  connect(m_showBuckets, &Button::clicked, this, [this] {
    m_bucketsWanted = !m_bucketsWanted;
    showBuckets(m_context.store->find(m_run));
    if (m_bucketsWanted) QTimer::singleShot(0, this, [this] { ensureWidgetVisible(m_buckets); });
  });
  return card;
}

void RunLargeBatch::openSetting(const char* field) {
  if (m_context.go) m_context.go({.page = QStringLiteral("settings"), .field = QString::fromLatin1(field)});
}

void RunLargeBatch::setRun(const QString& id) {
  if (id != m_run) m_bucketsWanted = false;
  m_run = id;
  m_names.clear();
  m_batch->clear();
  m_batchDrawn = m_rangeDrawn = 0;
  for (LineChart* each : {m_noise, m_ratio, m_scale}) each->setLines({});
  m_outline = id.isEmpty() ? nullptr : outlineQuestion(*m_context.store, id, [this] { showPoints(); });
  m_waiting = id.isEmpty() ? nullptr : waitingQuestion(*m_context.store, id, [this] { showPoints(); });
  m_stack->axis()->setCursor({});
  m_stack->axis()->follow();
  eventsAdded();
}

void RunLargeBatch::pointsAdded() {
  if (!m_soon.isActive()) m_soon.start();
}

void RunLargeBatch::eventsAdded() {
  m_figures = m_context.store->find(m_run) ? largeBatchFigures(*m_context.store, m_run) : LargeBatchFigures();
  show();
}

void RunLargeBatch::show() {
  const RunRecord* const run = m_context.store->find(m_run);
  showRanks(run);
  showRatios(run);
  showMagnitudes(run);
  showBuckets(run);
  showPoints();
}

void RunLargeBatch::showPoints() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (run) {
    setLines();
    setRange();
    setEmptyTexts(*run);
  }
  showNoise(run);
  showWaiting(run);
  m_stack->refresh();
}

void RunLargeBatch::setLines() {
  const RunOutline* const outline = m_outline ? m_outline->ask(RunOutline::Asked{XUnit::step, {}}) : nullptr;
  if (!outline || outline->names == m_names) return;
  m_names = outline->names;
  const auto line = [&](const char* name, const QString& title, int colour, LineKind kind) {
    return ChartLine{.id = name,
                     .name = title,
                     .kind = kind,
                     .colour = colour,
                     .source = std::make_shared<StoreSeries>(*m_context.store, m_run, name),
                     .value = std::string_view(name) == series::kLossScale ? ValueKind::plain : ValueKind::rate};
  };
  std::vector<ChartLine> noise, ratios, scale;
  if (outline->has(series::kNoiseScale)) {
    noise.push_back(line(series::kNoiseScale, tr("noise scale"), kNoiseColour, LineKind::plain));
    noise.push_back({.id = "batch",
                     .name = tr("batch"),
                     .kind = LineKind::planned,
                     .ink = Colour::accentText,
                     .source = m_batch,
                     .value = ValueKind::plain});
  }
  if (outline->has(kMedianRatio)) ratios.push_back(line(kMedianRatio, tr("median"), kRatioColour, LineKind::curve));
  if (outline->has(kLeastRatio)) ratios.push_back(line(kLeastRatio, tr("least"), kLeastColour, LineKind::curve));
  if (outline->has(series::kLossScale))
    scale.push_back(line(series::kLossScale, tr("loss scale"), kScaleColour, LineKind::plain));
  m_noise->setLines(std::move(noise));
  m_ratio->setLines(std::move(ratios));
  m_scale->setLines(std::move(scale));
}

// The axis is that of the steps so far; the batch is drawn as long, where it is one and the same throughout.
void RunLargeBatch::setRange() {
  const RunRecord* const run = m_context.store->find(m_run);
  const auto edge = static_cast<double>(std::max<std::int64_t>(run->step, 1));
  const auto batch = static_cast<double>(run->batch);
  if (edge == m_rangeDrawn && batch == m_batchDrawn) return;
  m_rangeDrawn = edge;
  m_batchDrawn = batch;
  m_stack->axis()->setFull({0, edge});
  m_batch->clear();
  const auto stages = run->settings.is_object() ? run->settings.find("batch_at") : run->settings.end();
  const bool oneBatch = !run->settings.is_object() || stages == run->settings.end() || stages->empty() ||
                        (stages->is_string() && stages->get<std::string>().empty());
  if (batch > 0 && oneBatch) m_batch->append(0, batch), m_batch->append(edge, batch);
}

void RunLargeBatch::setEmptyTexts(const RunRecord& run) {
  m_noise->setEmptyText(!watchesGradients(run) ? tr("Not measured: Watch gradients was off")
                        : isLive(run.state)    ? tr("Known behind its first 32 steps")
                                               : tr("Too few steps, or too much noise to tell"));
  m_ratio->setEmptyText(tr("This rule scales no layer by itself"));
  m_scale->setEmptyText(tr("Only a run in f16 scales its loss"));
}

void RunLargeBatch::showNoise(const RunRecord* run) {
  const auto noise = run ? m_context.store->lastValue(m_run, series::kNoiseScale) : std::nullopt;
  const double batch = run ? static_cast<double>(run->batch) : 0;
  const bool told = noise && std::isfinite(*noise) && *noise > 0;
  m_noiseFigure->setText(told ? formatCount(std::round(*noise)) : QStringLiteral("–"));
  m_noiseUnit->setText(told && batch > 0 ? tr("samples of noise, batch in use %1").arg(formatCount(batch))
                                         : tr("samples of noise"));
  m_watch->setVisible(run && !told && !watchesGradients(*run));
  if (!run)
    m_noiseWords->setText(tr("No run yet. Train starts one."));
  else if (told && batch > 0)
    m_noiseWords->setText(QString::fromStdString(tradeSentence(*noise, batch)));
  else if (!watchesGradients(*run))
    m_noiseWords->setText(
        tr("How noisy the gradient is says how far a larger batch pays. It is measured while it trains where Watch "
           "gradients is on, from the parts of a step: several ranks, virtual ranks or accumulation passes."));
  else if (!hasParts(*run, m_figures))
    m_noiseWords->setText(
        tr("A step of one part leaves nothing to compare: it takes several ranks, virtual ranks or accumulation "
           "passes."));
  else
    m_noiseWords->setText(isLive(run->state) ? tr("Every fourth step is measured; the first eight make a figure.")
                                             : tr("There was more noise than its steps could tell, or too few of "
                                                  "them."));
}

void RunLargeBatch::showWaiting(const RunRecord* run) {
  const WaitingShares* const shares = run && m_waiting ? m_waiting->ask({run->step}) : nullptr;
  m_waitBar->setShares(shares ? *shares : WaitingShares());
  const bool told = shares && shares->steps > 0;
  m_waitBar->setVisible(told);
  m_waitHint->setText(!told ? tr("Measured with the first steps.")
                            : tr("%1, mean of the newest %2%3")
                                  .arg(formatDuration(shares->step), counted(shares->steps, tr("steps")),
                                       shares->exchange ? QString() : tr("; one rank exchanges nothing")));
  std::vector<ChartEvent> skipped;
  if (shares)
    for (const std::int64_t step : shares->skipped)
      skipped.push_back({static_cast<double>(step), tr("skipped"), "flag"});
  m_scale->setTitle(
      tr("Loss scale"),
      skipped.empty() ? QString() : tr("%1 skipped").arg(counted(static_cast<qint64>(skipped.size()), tr("steps"))));
  m_scale->setEvents(std::move(skipped), false);
}

void RunLargeBatch::setShowsRanks(bool shown) {
  m_showsRanks = shown;
  m_ranks->setVisible(shown);
  showRanks(m_context.store->find(m_run));
}

void RunLargeBatch::showRanks(const RunRecord* run) {
  if (!m_showsRanks) return;
  m_ranks->setShares(rankShares(run, run ? m_context.store->events(m_run) : std::vector<Event>()));
}

void RunLargeBatch::showRatios(const RunRecord* run) {
  const bool told = !m_figures.ratios.empty();
  m_ratios->setVisible(told);
  m_rule->setVisible(run && !told && !isLive(run->state));
  m_ratioHint->setText(told
                           ? tr("at step %1").arg(formatCount(static_cast<double>(m_figures.step)))
                           : tr("Rules with a trust ratio (LARS, LAMB, LARC) tell by how much they scale each layer."));
  m_ratios->setRatios(m_figures.ratios);
  keepTableRows(*m_ratios, kRatioRows);
}

void RunLargeBatch::showMagnitudes(const RunRecord* run) {
  const auto& told = m_figures.magnitudes;
  m_magnitudes->setVisible(told.has_value());
  m_magnitudes->setMagnitudes(told);
  if (!told)
    return m_magnitudeWords->setText(run && watchesGradients(*run)
                                         ? tr("Told every few seconds on a processor; a GPU tells none.")
                                         : tr("Counted by power of 2 where Watch gradients is on, with the share that "
                                              "f16 would round to 0."));
  QString words = tr("At step %1 f16 would round %2 of the gradients to 0")
                      .arg(formatCount(static_cast<double>(m_figures.step)), formatPercent(told->lost, 2));
  if (told->scale > 1)
    words += tr(", with the loss scale of %1 %2").arg(formatCount(told->scale), formatPercent(told->lostScaled, 2));
  m_magnitudeWords->setText(words + '.');
}

void RunLargeBatch::showBuckets(const RunRecord* run) {
  const bool told = !m_figures.buckets.empty();
  const bool predicted = std::any_of(m_figures.buckets.begin(), m_figures.buckets.end(),
                                     [](const ExchangedBucket& each) { return each.predicted.has_value(); });
  m_showBuckets->setVisible(told);
  m_showBuckets->setText(m_bucketsWanted ? tr("Hide buckets") : tr("Show buckets"));
  m_buckets->setVisible(told && m_bucketsWanted);
  if (!told)
    return m_bucketWords->setText(run && isLive(run->state) && m_figures.ranks > 1
                                      ? tr("Measured behind the eighth step.")
                                      : tr("What travels together, and what it took: of a run on several ranks."));
  m_bucketWords->setText(
      tr("%1 by %2, %3 on the wire; the least time of the first steps, in which nobody was waited for%4")
          .arg(counted(static_cast<qint64>(m_figures.buckets.size()), tr("buckets")), m_figures.reduction,
               m_figures.wire,
               predicted ? QString() : tr(". Set Reduction to Hybrid to have each predicted from the links")));
  m_buckets->setBuckets(m_figures.buckets);
  keepTableRows(*m_buckets, kBucketRows);
}

void RunLargeBatch::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  m_across->setDirection(viewport()->width() >= kChartsBeside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

}  // namespace loom
